import type { ListFacts } from './state.ts'

/** For so long what was refuted is not believed again, and without a total a proof holds (seconds). */
const DAY = 86_400

/** Whether a page was out of order within a day of `now` (UNIX seconds). */
export function isOrderRefuted({ refutedAt }: ListFacts, now: number): boolean {
  return isWithinDay(refutedAt, now)
}

/** Whether the total says nothing at `now` (UNIX seconds): within a day it was smaller than what the pages show, or it stops there. */
export function isTotalUseless({ cap, wrongTotalAt }: ListFacts, total: number, now: number): boolean {
  return total === cap || isWithinDay(wrongTotalAt, now)
}

/** Whether a reading to the end has found the order in every page, and nothing has refuted it since. */
export function isOrderProven({ provenAt, refutedAt = -Infinity }: ListFacts): boolean {
  return provenAt !== undefined && provenAt > refutedAt
}

/** The same, and not longer than a day before `now` (UNIX seconds): without a total nothing else would show a mistake. */
export function isOrderProvenLately(facts: ListFacts, now: number): boolean {
  return isOrderProven(facts) && isWithinDay(facts.provenAt, now)
}

/** One answer with a wrong `Date` must not make something known for years. */
function isWithinDay(time: number | undefined, now: number): boolean {
  return time !== undefined && Math.abs(now - time) < DAY
}
