import { Cron } from 'croner'
import { text } from '../schema/scalars.ts'

/** Five cron fields: minute, hour, day of the month, month, day of the week. */
export function cronStart() {
  const expected = 'five cron fields (minute, hour, day of the month, month, day of the week), such as `0 2 * * 6`'
  return text(expected, isCron).refine((fields) => !isCron(fields) || comes(fields), {
    error: 'a day that some month has',
  })
}

function isCron(fields: string): boolean {
  // croner would also accept a name such as `@daily`, a date, and `?` for the current time.
  return /^[^\s?]+(?: +[^\s?]+){4}$/.test(fields) && read(fields) !== undefined
}

/** This many starts are compared with the next one. */
const COMPARED = 1000

/**
 * Whether the mute would never end, because each start falls within the duration of the previous one. Some starts may
 * overlap: a whole weekend is two days, each with its own start.
 *
 * @param duration seconds
 */
export function neverEnds(fields: string, duration: number): boolean {
  if (!isCron(fields)) return false
  const cron = read(fields)
  let start = cron?.nextRun(new Date(0))
  for (let i = 0; i < COMPARED; i++) {
    const next = start && cron?.nextRun(start)
    if (!start || !next || next.getTime() - start.getTime() > duration * 1000) return false
    start = next
  }
  return true
}

/** Whether the start ever comes. False for a date such as 30 February. */
function comes(fields: string): boolean {
  return read(fields)?.nextRun(new Date(0)) !== null
}

/** Without a callback, croner schedules nothing. */
function read(fields: string): Cron | undefined {
  try {
    return new Cron(fields, { mode: '5-part', timezone: 'UTC' })
  } catch {
    return undefined
  }
}
