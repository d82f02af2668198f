import { MOMENT, readMoment } from '../../history/moment.ts'
import { UsageError } from '../explain-error.ts'

/**
 * The period that `--since` and `--until` name. An end that is not given is undefined.
 *
 * @param zone the time zone of dates
 * @param now the host's clock (UNIX seconds)
 * @throws {UsageError}
 */
export function periodOf(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  zone: string,
  now: number,
) {
  const to = until === undefined ? undefined : momentOf('until', until, zone, now)
  const from = since === undefined ? undefined : momentOf('since', since, zone, now)
  if (from !== undefined && from >= (to ?? now)) throw new UsageError('--since must be before --until')
  return { from, to }
}

/**
 * The time that `--since` names, for a command without `--until` (UNIX seconds). Dates are in UTC.
 *
 * @param now the host's clock (UNIX seconds)
 * @throws {UsageError}
 */
export function sinceOf(text: string, now: number): number {
  return momentOf('since', text, 'UTC', now)
}

function momentOf(option: string, text: string, zone: string, now: number): number {
  const time = readMoment(text, zone, now)
  if (time === undefined) throw new UsageError(`--${option} ${text}: expected ${MOMENT}`)
  return time
}
