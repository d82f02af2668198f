import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  expand,
  filter,
  ignoreElements,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { updateRollups, type RollupPosition } from '../history/update-rollups.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { formatSeconds, formatTime } from '../text/format.ts'

const UPDATE_INTERVAL_SECONDS = 10
const LOG_INTERVAL_SECONDS = 60

/**
 * Adds up calls for charts and reports while this daemon is the leader; emits nothing. What fails now is done the next time:
 * until then charts and reports read the calls themselves.
 */
export function maintainRollups({
  store,
  clock,
  log,
  ownership,
  draining$,
}: {
  store: Store
  clock: Clock
  log: Pick<Logger, 'info'>
  ownership: Pick<Ownership, 'isLeader'>
  draining$: Observable<unknown>
}): Observable<never> {
  const newRun = progressLog(clock, log)
  const next = (after?: RollupPosition) => defer(() => updateRollups(store, clock.wall(), after))
  return timer(UPDATE_INTERVAL_SECONDS * 1000, UPDATE_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    filter(ownership.isLeader),
    exhaustMap(() =>
      next().pipe(
        expand((position) => (position === undefined ? EMPTY : next(position))),
        tap(newRun()),
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

/** Logs a run that takes longer than the time between two: how far it is, in all runs at most once a minute, and how long it took. */
function progressLog(clock: Clock, log: Pick<Logger, 'info'>) {
  let nextLine = 0
  return () => {
    const begun = clock.monotonic()
    let isLogged = false
    return (position: RollupPosition | undefined): void => {
      const now = clock.monotonic()
      if (position === undefined && isLogged) log.info(`the history was added up in ${formatSeconds(now - begun)}`)
      if (position === undefined || now < Math.max(begun + UPDATE_INTERVAL_SECONDS, nextLine)) return
      isLogged = true
      nextLine = now + LOG_INTERVAL_SECONDS
      log.info(`the history is being added up for charts and reports: up to ${formatTime(position.quarter)}`)
    }
  }
}
