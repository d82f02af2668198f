import { Cron } from 'croner'
import { text } from '../schema/scalars.ts'

/** Five cron fields: minute, hour, day of the month, month, day of the week. */
export function cronStart() {
  const expected = 'five cron fields (minute, hour, day of the month, month, day of the week), such as `0 2 * * 6`'
  const isCron = (fields: string) => startsOf(fields, 1) !== undefined
  return text(expected, isCron).refine((fields) => startsOf(fields, 1)?.length !== 0, {
    error: 'a day that some month has',
  })
}

/** So many starts are compared with the next one: at first few, since of most mutes no two overlap. */
const COMPARED = [3, 1000] as const

/**
 * Whether the mute would never end, because each start falls within the duration of the previous one. Some starts may
 * overlap: a whole weekend is two days, each with its own start.
 *
 * @param duration seconds
 */
export function neverEnds(fields: string, duration: number): boolean {
  return COMPARED.every((n) => {
    const starts = startsOf(fields, n + 1) ?? []
    return starts.length > n && starts.every((start, i) => i === 0 || start - starts[i - 1]! <= duration)
  })
}

/** The first starts (UNIX seconds), of a date such as 30 February none; undefined if these are no five fields of cron. */
function startsOf(fields: string, most: number): number[] | undefined {
  // croner would also accept a name such as `@daily`, a date, and `?` for the current time.
  if (!/^[^\s?]+(?: +[^\s?]+){4}$/.test(fields)) return undefined
  try {
    // Without a callback, croner schedules nothing.
    const cron = new Cron(fields, { mode: '5-part', timezone: 'UTC' })
    return cron.nextRuns(most, new Date(0)).map((start) => start.getTime() / 1000)
  } catch {
    return undefined
  }
}
