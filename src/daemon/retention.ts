import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import { StoreError } from '../store/store-error.ts'
import type { RetentionStore } from '../store/store.ts'
import type { Job } from './jobs.ts'
import type { DaemonParts } from './parts.ts'

/**
 * The time from which the ages of stored rows are counted (UNIX seconds). It is the end of the latest successful poll of any
 * target, by its service's clock, but not later than the host's clock or the newest call. So a wrong clock deletes nothing
 * early. Undefined before the first successful poll.
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

type RetentionOptions = Pick<DaemonParts, 'clock' | 'mask'> & {
  store: RetentionStore
  lastSuccesses: () => Iterable<number | undefined>
  /** How long rows are kept (seconds). */
  kept: () => number
  log: Pick<Logger, 'warn' | 'debug'>
}

/** Deletes expired rows. */
export function newRetention({ store, clock, lastSuccesses, kept, log, mask }: RetentionOptions) {
  let newest: number | undefined
  let hasFailed = false
  /** {@link retentionTime} from what this daemon has read; undefined before it has read anything. */
  const now = () => newest && retentionTime(lastSuccesses(), clock, newest)

  async function deleteExpired(): Promise<void> {
    try {
      newest = (await store.newestEnd()) ?? Infinity
      const time = now()
      if (time !== undefined) await store.deleteExpired(time - kept())
      hasFailed = false
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // Logged once until it succeeds. Problems of the store are logged elsewhere.
      const line = `expired rows were not deleted from the store (retried each minute): ${mask(String(error))}`
      log[hasFailed ? 'debug' : 'warn'](line)
      hasFailed = true
    }
  }

  const job: Job = { every: 60, leaderOnly: true, run: deleteExpired }
  return { now, job }
}
