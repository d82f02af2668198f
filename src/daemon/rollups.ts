import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  expand,
  filter,
  ignoreElements,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { updateRollups, type RollupPosition } from '../history/update-rollups.ts'
import { onlyStoreErrors, type Store } from '../store/store.ts'

const UPDATE_INTERVAL_SECONDS = 10

/**
 * Adds up calls for charts and reports while this daemon is the leader; emits nothing. What fails now is done the next time:
 * until then charts and reports read the calls themselves.
 */
export function maintainRollups({
  store,
  clock,
  ownership,
  draining$,
}: {
  store: Store
  clock: Clock
  ownership: Pick<Ownership, 'isLeader'>
  draining$: Observable<unknown>
}): Observable<never> {
  const next = (after?: RollupPosition) => defer(() => updateRollups(store, clock.wall(), after))
  return timer(UPDATE_INTERVAL_SECONDS * 1000, UPDATE_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    filter(ownership.isLeader),
    exhaustMap(() =>
      next().pipe(
        expand((position) => (position === undefined ? EMPTY : next(position))),
        takeUntil(draining$),
        catchError((error: unknown) => {
          onlyStoreErrors(undefined)(error)
          return EMPTY
        }),
      ),
    ),
    ignoreElements(),
  )
}
