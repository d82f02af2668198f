import { lastValueFrom, ReplaySubject, type Observable } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import { earlySignals } from './early-signals.ts'

/** A Ctrl-C comes twice under `npm run`: from the terminal, and from npm (seconds). */
const SAME_SIGNAL_SECONDS = 0.5

/**
 * Emits once, at the first SIGTERM or SIGINT, also to later subscribers. The second signal ends the process at once, unless both are
 * SIGINT within half a second.
 */
export function stopSignal(): Observable<unknown> {
  // Listens before anything subscribes, since process 1 of a container loses a signal without a listener.
  const draining$ = new ReplaySubject<void>(1)
  let first: { signal: NodeJS.Signals; at: number } | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = systemClock.monotonic()
    if (first?.signal === signal && signal === 'SIGINT' && now - first.at < SAME_SIGNAL_SECONDS) return
    if (first !== undefined) process.exit(1)
    first = { signal, at: now }
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
