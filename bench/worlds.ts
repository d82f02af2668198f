import type { World } from './processes/world.ts'

/** 20 calls begin in an interval of 15 s. */
const PACE = 0.75
const HOUR = 3600

/** A list of so many calls of the last 24 hours that changes at the same pace however long it is. */
export function steadyWorld(calls: number, now: number): World {
  // What is older than an hour lies as close as a day asks for.
  const older = Math.max(0, calls - HOUR / PACE)
  return { calls, epoch: now - HOUR, pace: PACE, olderPace: Math.min(PACE, (22 * HOUR) / Math.max(1, older)) }
}

/** Calls that were all over two hours ago, evenly spread over half a day; none begins any more. */
export function stillWorld(calls: number, now: number): World {
  const pace = (12 * HOUR) / calls
  const lastBegin = now - 2 * HOUR
  return { calls, epoch: lastBegin - 12 * HOUR, pace, olderPace: pace, lastBegin }
}

/** Calls that are all in progress at `now` and have all ended a poll later. */
export function endingWorld(calls: number, now: number): World {
  const lastBegin = now - 60
  const pace = HOUR / calls
  return { calls, epoch: lastBegin - HOUR, pace, olderPace: pace, lastBegin, allEnd: now + 10 }
}

/** Paths of all pages of a list. */
export function allPages(calls: number): string[] {
  return Array.from({ length: Math.ceil(calls / 100) }, (_, i) => `/calls?page=${i + 1}&perPage=100`)
}

/** One of a great many apps: a call in 15 s, and 60 calls in the list. */
export function lightWorld(now: number): World {
  return { calls: 60, epoch: now - 600, pace: 15, olderPace: 15 }
}

/** One of many apps: 20 changes in 15 s, as 10 calls begin and 10 end; 500 calls in the list. */
export function manyWorld(now: number): World {
  return { calls: 500, epoch: now - 600, pace: 1.5, olderPace: HOUR / 10 }
}
