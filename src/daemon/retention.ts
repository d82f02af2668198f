import { exhaustMap, filter, ignoreElements, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { StoreError, type Store } from '../store/store.ts'

const INTERVAL = 60

/** When the latest successful poll of each target ended, by its service's clock (UNIX seconds). */
type LastSuccesses = Iterable<number | undefined>

/**
 * The moment from which the ages of stored rows are counted (UNIX seconds): the latest successful poll of any target by its service's
 * clock, but not later than the host's clock. So no single wrong clock deletes anything early. Undefined before there was such a poll.
 */
export function retentionTime(lastSuccesses: LastSuccesses, { wall }: Pick<Clock, 'wall'>): number | undefined {
  const latest = Math.max(-Infinity, ...[...lastSuccesses].map((time) => time ?? -Infinity))
  return latest === -Infinity ? undefined : Math.min(latest, wall())
}

export type RetentionOptions = {
  store: Pick<Store, 'deleteExpired' | 'rows'>
  clock: Clock
  ownership: Pick<Ownership, 'isLeader'>
  /** As {@link retentionTime} says. */
  now: () => number | undefined
  /** How long rows are kept (seconds). */
  kept: number
  /** Called when rows could not be deleted, and with undefined once they could. */
  onProblem: (error: StoreError | undefined) => void
  stop$: Observable<unknown>
}

/** Deletes expired rows each minute while this daemon is the leader; emits nothing. What fails now is deleted a minute later. */
export function keepRetention({
  store,
  clock,
  ownership,
  now,
  kept,
  onProblem,
  stop$,
}: RetentionOptions): Observable<never> {
  return timer(0, INTERVAL * 1000, clock.scheduler).pipe(
    takeUntil(stop$),
    filter(ownership.isLeader),
    exhaustMap(() => deleteExpired(store, now(), kept).then(() => onProblem(undefined), only(onProblem))),
    ignoreElements(),
  )
}

/** Deletes no row that is newer than the newest call less what is kept: then both clocks may be wrong. */
async function deleteExpired(store: RetentionOptions['store'], now: number | undefined, kept: number): Promise<void> {
  if (now === undefined) return
  const [row] = await store.rows(
    `SELECT max(newest) AS newest FROM (
      SELECT (SELECT max(finished) FROM callwatch.calls WHERE target = number) AS newest FROM callwatch.targets) AS each_target`,
    [],
  )
  const newest = row?.['newest'] ?? now
  await store.deleteExpired(Math.min(now, Number(newest)) - kept)
}

function only(onProblem: (error: StoreError) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof StoreError)) throw error
    onProblem(error)
  }
}
