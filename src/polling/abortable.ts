import { defer, fromEvent, merge, Observable, of, take } from 'rxjs'

/** A promise-returning operation as an Observable: unsubscribing aborts it. Emits its one value, or errors. */
export function abortable<T>(operation: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return new Observable<T>((subscriber) => {
    const controller = new AbortController()
    let isOver = false
    operation(controller.signal).then(
      (value) => {
        isOver = true
        subscriber.next(value)
        subscriber.complete()
      },
      (error: unknown) => {
        isOver = true
        subscriber.error(error)
      },
    )
    // Aborting costs an exception with its stack: of what is over nobody hears it.
    return () => {
      if (!isOver) controller.abort()
    }
  })
}

/** Emits once the signal is aborted; at once where it already is. */
export function whenAborted(signal: AbortSignal): Observable<unknown> {
  return defer(() => (signal.aborted ? of(undefined) : fromEvent(signal, 'abort')))
}

/** A signal that is aborted when `after$` emits, when `aborted` is, or by `end`, which must be called in any case. */
export function deadlineOf(
  after$: Observable<unknown>,
  aborted: AbortSignal,
): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const waiting = merge(after$, whenAborted(aborted)).pipe(take(1)).subscribe(abort)
  waiting.add(abort)
  return { signal: controller.signal, end: () => waiting.unsubscribe() }
}
