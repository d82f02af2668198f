import type { Tripwire } from './list-state.ts'

/** How long the total is ignored after a sweep that found nothing (seconds), because it counts something else. */
const IGNORED_SECONDS = 86_400

/**
 * Notes the total of a poll that joined.
 *
 * @param cameIn how many rows have appeared since the last poll
 * @param now monotonic seconds
 */
export function noteTotal(tripwire: Tripwire, total: number | undefined, cameIn: number, now: number): void {
  tripwire.cameIn += cameIn
  if (tripwire.base === undefined) Object.assign(tripwire, { base: total, cameIn: 0 })
  if (tripwire.state !== 'watched' || total === undefined || now < tripwire.ignoredUntil) return
  if (total - (tripwire.base ?? total) > tripwire.cameIn) tripwire.state = 'tripped'
}

/** Call it after a sweep. @param now monotonic seconds */
export function resetTripwire(tripwire: Tripwire, hasFound: boolean, now: number): void {
  if (tripwire.state === 'checked' && !hasFound) tripwire.ignoredUntil = now + IGNORED_SECONDS
  Object.assign(tripwire, { base: undefined, cameIn: 0 })
  if (tripwire.state === 'checked') tripwire.state = 'watched'
}
