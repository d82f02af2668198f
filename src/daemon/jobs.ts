import { defer, exhaustMap, filter, finalize, ignoreElements, merge, mergeMap, take, takeUntil, tap, timer } from 'rxjs'
import type { Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { DaemonEvent } from './daemon-event.ts'

/** Work beside the polls that is done again and again. What the store keeps from being done is done the next time. */
export type Job = {
  /** Seconds between two runs, of which the first comes after so many, too, or `first`. A run that takes longer delays the next one. */
  every: number
  first?: number
  /** Of the daemons that share a store, one does it. */
  leaderOnly: boolean
  /**
   * @param draining aborts a run of several steps after its step
   * @returns what happened, if that is reported
   */
  run: (draining: AbortSignal) => Promise<readonly DaemonEvent[] | void>
}

/** Does these jobs until `draining$`; a run under way is finished. Errors only through a bug. */
export function runJobs(
  jobs: readonly Job[],
  {
    clock,
    ownership,
    draining$,
  }: { clock: Clock; ownership: Pick<Ownership, 'isLeader'>; draining$: Observable<unknown> },
): Observable<DaemonEvent> {
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
