import type { Tripwire } from './list-state.ts'

/** For so long the total is ignored after a sweep that found nothing (seconds): it counts something else. */
const IGNORED_SECONDS = 86_400

/**
 * Adds the total of a poll that joined.
 *
 * @param cameIn rows that came in since the poll before
 * @param now monotonic seconds
 */
export function noteTotal(tripwire: Tripwire, total: number | undefined, cameIn: number, now: number): void {
  tripwire.cameIn += cameIn
  if (tripwire.base === undefined) Object.assign(tripwire, { base: total, cameIn: 0 })
  if (tripwire.state !== 'watched' || total === undefined || now < tripwire.ignoredUntil) return
  if (total - (tripwire.base ?? total) > tripwire.cameIn) tripwire.state = 'tripped'
}

/** A sweep has ended. @param now monotonic seconds */
export function resetTripwire(tripwire: Tripwire, hasFound: boolean, now: number): void {
  if (tripwire.state === 'checked' && !hasFound) tripwire.ignoredUntil = now + IGNORED_SECONDS
  Object.assign(tripwire, { base: undefined, cameIn: 0 })
  if (tripwire.state === 'checked') tripwire.state = 'watched'
}
