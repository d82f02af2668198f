import { usedBetween } from '../ledger/usage.ts'

/** The participant minutes of a period up to now, and when that began (UNIX seconds). */
export type UsedMinutes = { from: number; minutes: number }

/**
 * Participant minutes counted on the day and in the month of a moment, both in UTC; in which they fall goes by when
 * callwatch counted them.
 *
 * @param usage minutes by quarter of an hour
 * @param now UNIX seconds by the service's clock
 */
export function usedMinutes(usage: ReadonlyMap<number, number>, now: number): { day: UsedMinutes; month: UsedMinutes } {
  const date = new Date(now * 1000)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const since = (milliseconds: number): UsedMinutes => {
    const from = milliseconds / 1000
    return { from, minutes: usedBetween(usage, from, Infinity) }
  }
  return { day: since(Date.UTC(year, month, date.getUTCDate())), month: since(Date.UTC(year, month, 1)) }
}
