import type { ListTraits } from './state.ts'

/** How long a refuted order or total is not used again, and how long an order without a total stays verified (seconds). */
const DAY = 86_400

/** Whether a page was out of order within a day of `now` (UNIX seconds). */
export function isOrderRefuted({ orderRefutedAt }: ListTraits, now: number): boolean {
  return isWithin(DAY, orderRefutedAt, now)
}

/** Whether the total was smaller than what the pages show, within a day of `now` (UNIX seconds). */
export function isTotalWrong({ wrongTotalAt }: ListTraits, now: number): boolean {
  return isWithin(DAY, wrongTotalAt, now)
}

/** Whether this total is meaningless at `now` (UNIX seconds): totals are wrong, or capped at it. */
export function isTotalUseless(traits: ListTraits, total: number, now: number): boolean {
  return total === traits.cap || isTotalWrong(traits, now)
}

/** Whether a listing of the whole list found every page in order, and nothing has refuted the order since. */
export function isOrderVerified({ orderVerifiedAt, orderRefutedAt = -Infinity }: ListTraits): boolean {
  return orderVerifiedAt !== undefined && orderVerifiedAt > orderRefutedAt
}

/**
 * The same, within a day or half the time from the horizon to `now` (UNIX seconds). Without a total nothing else shows that
 * the order is wrong, and the calls that it hides must be found before the horizon passes them.
 */
export function isOrderVerifiedRecently(
  traits: ListTraits,
  { now, horizon }: { now: number; horizon: number },
): boolean {
  return isOrderVerified(traits) && isWithin(Math.min(DAY, (now - horizon) / 2), traits.orderVerifiedAt, now)
}

/** Either way: one answer with a `Date` in the future must not have effect for years. */
function isWithin(seconds: number, time: number | undefined, now: number): boolean {
  return time !== undefined && Math.abs(now - time) < seconds
}
