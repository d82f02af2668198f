import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Mask } from '../log/mask-secrets.ts'
import { shown } from '../store/call-columns.ts'
import type { RowReader } from '../store/row-reader.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import type { Job } from './jobs.ts'

/**
 * The newest end of a call that the service has said, and not callwatch's clock, which is when all others were noticed. Of the newest
 * thousand of each target.
 */
const NEWEST = `
  SELECT max(newest) AS newest FROM (
    SELECT (
      SELECT max(finished) FROM (
        SELECT finished, ${shown('noticed')} FROM callwatch.calls
        WHERE target = number AND finished IS NOT NULL ORDER BY finished DESC LIMIT 1000
      ) AS latest WHERE finished < noticed
    ) AS newest FROM callwatch.targets
  ) AS each_target`

/**
 * The moment from which the ages of stored rows are counted (UNIX seconds): the latest successful poll of any target by its service's
 * clock, but later neither than the host's clock nor than the newest call. So a wrong clock deletes nothing early. Undefined before
 * there was such a poll.
 *
 * @param lastSuccesses when the latest successful poll of each target ended, by its service's clock
 */
export function retentionTime(
  lastSuccesses: Iterable<number | undefined>,
  { wall }: Pick<Clock, 'wall'>,
  newest = Infinity,
): number | undefined {
  const latest = Math.max(-Infinity, ...[...lastSuccesses].map((time) => time ?? -Infinity))
  return latest === -Infinity ? undefined : Math.min(latest, wall(), newest)
}

export type RetentionOptions = {
  store: Pick<Store, 'deleteExpired'> & RowReader
  clock: Clock
  lastSuccesses: () => Iterable<number | undefined>
  /** How long rows are kept (seconds). */
  kept: () => number
  log: Pick<Logger, 'warn' | 'debug'>
  /** Takes secrets out of a text. */
  mask: Mask
}

/** Deletes rows that are older than they are kept. */
export function newRetention({ store, clock, lastSuccesses, kept, log, mask }: RetentionOptions) {
  let newest: number | undefined
  let hasFailed = false
  /** As {@link retentionTime}, of what this daemon has read; undefined while it has read nothing. */
  const now = () => newest && retentionTime(lastSuccesses(), clock, newest)

  async function deleteExpired(): Promise<void> {
    try {
      const [row] = await store.rows(NEWEST, [])
      newest = Number(row?.['newest'] ?? Infinity)
      const time = now()
      if (time !== undefined) await store.deleteExpired(time - kept())
      hasFailed = false
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // Once, until it succeeds: what keeps it from that is logged as a problem of the store.
      const line = `expired rows were not deleted from the store (retried each minute): ${mask(String(error))}`
      log[hasFailed ? 'debug' : 'warn'](line)
      hasFailed = true
    }
  }

  const job: Job = { every: 60, leaderOnly: true, run: deleteExpired }
  return { now, job }
}
