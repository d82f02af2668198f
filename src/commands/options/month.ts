import { UsageError } from '../explain-error.ts'

/** The dates on which a month such as `2026-11` begins and ends. @throws {UsageError} */
export function monthGiven(month: string): { since: string; until: string } {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) throw new UsageError(`--month ${month}: expected a month such as 2026-11`)
  const [year = 0, number = 0] = month.split('-').map(Number)
  return { since: `${month}-01`, until: new Date(Date.UTC(year, number)).toISOString().slice(0, 10) }
}
