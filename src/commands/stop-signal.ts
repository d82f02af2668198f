import { ReplaySubject, type Observable } from 'rxjs'
import { earlySignals } from './early-signals.ts'

/**
 * Emits once, at the first SIGTERM or SIGINT, and to whoever asks later. The second ends the process at once.
 */
export function stopSignal(): Observable<unknown> {
  // Listens before anybody subscribes: for process 1 of a container a signal that nobody listens for is lost.
  const stop$ = new ReplaySubject<void>(1)
  let asked = false
  const onSignal = () => {
    if (asked) process.exit(1)
    asked = true
    stop$.next()
    stop$.complete()
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, onSignal)
  earlySignals('SIGTERM', 'SIGINT').forEach(onSignal)
  return stop$.asObservable()
}

/** Emits at each SIGHUP; one that came before anybody listened is emitted to the first who does. */
export function hangUpSignal(): Observable<unknown> {
  const hangUp$ = new ReplaySubject<void>(1)
  process.on('SIGHUP', () => hangUp$.next())
  if (earlySignals('SIGHUP').length > 0) hangUp$.next()
  return hangUp$.asObservable()
}
