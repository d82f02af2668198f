import { chance, exponential, type Random } from '../random.ts'

/** Weights of how often calls begin in each hour of the day, and on each day of the week from Sunday on (UTC). */
const HOURS = [4, 3, 2, 2, 3, 6, 12, 20, 30, 38, 40, 38, 32, 36, 40, 39, 35, 30, 27, 25, 22, 17, 11, 7]
const DAYS = [5, 12, 13, 13, 13, 12, 6]

const mean = (weights: readonly number[]) => weights.reduce((sum, weight) => sum + weight, 0) / weights.length
const MEAN = mean(HOURS) * mean(DAYS)

/** How often calls begin at a time, relative to the mean of the week: 0.1 is a tenth of the mean. */
function activityAt(ms: number): number {
  const date = new Date(ms)
  return (HOURS[date.getUTCHours()]! * DAYS[date.getUTCDay()]!) / MEAN
}

const PEAK_ACTIVITY = (Math.max(...HOURS) * Math.max(...DAYS)) / MEAN

type Rhythm = { meanMs: number; weekly: boolean }

/**
 * Milliseconds to the next call, or to the previous one. If calls follow the week, call times are drawn at the rate of the
 * busiest hour, and each is kept with the probability of its own hour (Lewis and Shedler 1979).
 */
export function gapAfter(ms: number, direction: 1 | -1, gaps: Random, { meanMs, weekly }: Rhythm): number {
  if (!weekly) return Math.ceil(exponential(gaps, meanMs))
  let gap = 0
  do gap += Math.ceil(exponential(gaps, meanMs / PEAK_ACTIVITY))
  while (!chance(gaps, activityAt(ms + direction * gap) / PEAK_ACTIVITY))
  return gap
}
