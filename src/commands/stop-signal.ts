import { fromEvent, merge, ReplaySubject, share, take, tap, type Observable } from 'rxjs'

/**
 * Emits once, at the first SIGTERM or SIGINT, and to whoever asks later. The second ends the process at once.
 */
export function stopSignal(): Observable<unknown> {
  return merge(fromEvent(process, 'SIGTERM'), fromEvent(process, 'SIGINT')).pipe(
    take(1),
    tap(() => {
      for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1))
    }),
    share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnRefCountZero: false }),
  )
}
