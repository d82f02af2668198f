import type { ListFacts } from './state.ts'

/** For so long what was refuted is not believed again, and without a total a proof holds at most (seconds). */
const DAY = 86_400

/** Whether a page was out of order within a day of `now` (UNIX seconds). */
export function isOrderRefuted({ orderRefutedAt }: ListFacts, now: number): boolean {
  return isWithin(DAY, orderRefutedAt, now)
}

/** Whether the total was smaller than what the pages show, within a day of `now` (UNIX seconds). */
export function isTotalWrong({ wrongTotalAt }: ListFacts, now: number): boolean {
  return isWithin(DAY, wrongTotalAt, now)
}

/** Whether this total says nothing at `now` (UNIX seconds): totals are wrong, or stop there. */
export function isTotalUseless(facts: ListFacts, total: number, now: number): boolean {
  return total === facts.cap || isTotalWrong(facts, now)
}

/** Whether a reading to the end has found the order in every page, and nothing has refuted it since. */
export function isOrderVerified({ orderVerifiedAt, orderRefutedAt = -Infinity }: ListFacts): boolean {
  return orderVerifiedAt !== undefined && orderVerifiedAt > orderRefutedAt
}

/**
 * The same, and not longer than a day or half of what is read before `now` (UNIX seconds): without a total nothing else would
 * show a mistake, and what it hides must be found before the horizon passes it.
 */
export function isOrderVerifiedRecently(facts: ListFacts, { now, horizon }: { now: number; horizon: number }): boolean {
  return isOrderVerified(facts) && isWithin(Math.min(DAY, (now - horizon) / 2), facts.orderVerifiedAt, now)
}

/** One answer with a wrong `Date` must not make something known for years. */
function isWithin(seconds: number, time: number | undefined, now: number): boolean {
  return time !== undefined && Math.abs(now - time) < seconds
}
