import { MOMENT, readMoment } from '../history/moment.ts'
import { UsageError } from './explain-error.ts'

/** `--since` and `--until`. */
export type PeriodOptions = { since?: string; until?: string }

/**
 * The period that options name; what they leave out is undefined.
 *
 * @param zone of dates
 * @param now the host's clock (UNIX seconds)
 * @throws {UsageError}
 */
export function periodOf({ since, until }: PeriodOptions, zone: string, now: number) {
  const moment = (option: string, text: string) => {
    const time = readMoment(text, zone, now)
    if (time === undefined) throw new UsageError(`--${option} ${text}: expected ${MOMENT}`)
    return time
  }
  const to = until === undefined ? undefined : moment('until', until)
  const from = since === undefined ? undefined : moment('since', since)
  if (from !== undefined && from >= (to ?? now)) throw new UsageError('--since must be before --until')
  return { from, to }
}
