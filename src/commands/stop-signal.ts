import { lastValueFrom, ReplaySubject, type Observable } from 'rxjs'
import { earlySignals } from './early-signals.ts'

/**
 * Emits once, at the first SIGTERM or SIGINT, also to later subscribers. The second signal ends the process at once.
 */
export function stopSignal(): Observable<unknown> {
  // Listens before anything subscribes, since process 1 of a container loses a signal without a listener.
  const draining$ = new ReplaySubject<void>(1)
  let isStopping = false
  const onSignal = () => {
    if (isStopping) process.exit(1)
    isStopping = true
    draining$.next()
    draining$.complete()
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, onSignal)
  earlySignals('SIGTERM', 'SIGINT').forEach(onSignal)
  return draining$.asObservable()
}

/** Resolves at the first SIGTERM or SIGINT. */
export async function stopped(): Promise<void> {
  await lastValueFrom(stopSignal())
}

/** Emits at each SIGHUP; the first subscriber also gets an earlier one. */
export function hangUpSignal(): Observable<unknown> {
  const hangUp$ = new ReplaySubject<void>(1)
  process.on('SIGHUP', () => hangUp$.next())
  if (earlySignals('SIGHUP').length > 0) hangUp$.next()
  return hangUp$.asObservable()
}
