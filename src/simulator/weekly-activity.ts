/** How often calls begin in each hour of the day and on each day of the week, from Sunday on (UTC), by weight. */
const HOURS = [4, 3, 2, 2, 3, 6, 12, 20, 30, 38, 40, 38, 32, 36, 40, 39, 35, 30, 27, 25, 22, 17, 11, 7]
const DAYS = [5, 12, 13, 13, 13, 12, 6]

const mean = (weights: readonly number[]) => weights.reduce((sum, weight) => sum + weight, 0) / weights.length
const MEAN = mean(HOURS) * mean(DAYS)

/** How often calls begin at a moment, in relation to the mean of a week: 0.1 is a tenth of it. */
export function activityAt(ms: number): number {
  const date = new Date(ms)
  return (HOURS[date.getUTCHours()]! * DAYS[date.getUTCDay()]!) / MEAN
}

export const PEAK_ACTIVITY = (Math.max(...HOURS) * Math.max(...DAYS)) / MEAN
