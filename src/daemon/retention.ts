import { exhaustMap, filter, ignoreElements, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { shown } from '../store/call-columns.ts'
import type { RowReader } from '../store/row-reader.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'

const DELETION_INTERVAL_SECONDS = 60

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
  ownership: Pick<Ownership, 'isLeader'>
  lastSuccesses: () => Iterable<number | undefined>
  /** Called when rows could not be deleted, and with undefined once they could. */
  onProblem: (error: StoreError | undefined) => void
}

export type Retention = {
  /** As {@link retentionTime}, of what this daemon has read; undefined while it has read nothing. */
  now: () => number | undefined
  /** Deletes rows that are older than `kept` (seconds) each minute while this daemon is the leader; emits nothing. */
  run: (kept: number, draining$: Observable<unknown>) => Observable<never>
}

export function newRetention({ store, clock, ownership, lastSuccesses, onProblem }: RetentionOptions): Retention {
  let newest: number | undefined
  const now = () => newest && retentionTime(lastSuccesses(), clock, newest)

  async function deleteExpired(kept: number): Promise<undefined> {
    const [row] = await store.rows(NEWEST, [])
    newest = Number(row?.['newest'] ?? Infinity)
    const time = now()
    if (time !== undefined) await store.deleteExpired(time - kept)
  }

  return {
    now,
    run: (kept, draining$) =>
      timer(DELETION_INTERVAL_SECONDS * 1000, DELETION_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(
        takeUntil(draining$),
        filter(ownership.isLeader),
        exhaustMap(() => deleteExpired(kept).catch(storeErrorOf).then(onProblem)),
        ignoreElements(),
      ),
  }
}

function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  throw error
}
