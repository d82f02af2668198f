import { defer, exhaustMap, filter, finalize, ignoreElements, merge, mergeMap, take, takeUntil, tap, timer } from 'rxjs'
import type { Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { DaemonEvent } from './daemon-event.ts'

/** Recurring work besides the polls. If a problem of the store prevents a run, the next run does the work. */
export type Job = {
  /**
   * Seconds between two runs, and before the first one unless `first` is set. A run that takes longer delays the next one.
   */
  every: number
  first?: number
  /** Whether only one of the daemons that share a store does it. */
  leaderOnly: boolean
  /**
   * @param draining aborts a run of several steps after its current step
   * @returns events to report, if any
   */
  run: (draining: AbortSignal) => Promise<readonly DaemonEvent[] | void>
}

type RunOptions = { clock: Clock; draining$: Observable<unknown>; ownership: Pick<Ownership, 'isLeader'> }

/** Runs jobs until `draining$`. A job in progress is completed. Errors only after a bug. */
export function runJobs(jobs: readonly Job[], { clock, ownership, draining$ }: RunOptions): Observable<DaemonEvent> {
  return defer(() => {
    const controller = new AbortController()
    const drain = () => controller.abort()
    const runs = jobs.map(({ every, first = every, leaderOnly, run }) =>
      timer(first * 1000, every * 1000, clock.scheduler).pipe(
        takeUntil(draining$),
        filter(() => !leaderOnly || ownership.isLeader()),
        exhaustMap(() => run(controller.signal).catch(onlyStoreErrors(undefined))),
        mergeMap((events) => events ?? []),
      ),
    )
    return merge(...runs, draining$.pipe(take(1), tap(drain), ignoreElements())).pipe(finalize(drain))
  })
}
