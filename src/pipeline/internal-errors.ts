import { catchError, concat, ignoreElements, of, takeUntil, tap, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { StoreError } from '../store/store-error.ts'
import type { TargetEvent } from './lifecycle.ts'

/** Seconds until what failed is tried again: the first time, and at most. */
const FIRST_PAUSE_SECONDS = 1
const MAX_PAUSE_SECONDS = 300

/**
 * Ends a target's work when a bug made it fail, reports it, and completes after a pause, so that the caller repeats it. The
 * pause doubles with each failure, and a successful poll resets it. No other target is touched.
 *
 * @param draining$ emits when nothing may be repeated any more; must replay
 * @param failed called before anything else: what is in memory of the target may be half of a change
 */
export function internalErrors(
  target: string,
  { clock, failed, draining$ }: { clock: Clock; failed: () => void; draining$: Observable<unknown> },
): (work$: Observable<TargetEvent>) => Observable<TargetEvent> {
  let pause = FIRST_PAUSE_SECONDS
  return (work$) =>
    work$.pipe(
      tap((event) => {
        if (event.kind === 'polled' && event.report.successful) pause = FIRST_PAUSE_SECONDS
      }),
      catchError((error: unknown) => {
        // An error of the store is no bug.
        if (error instanceof StoreError) throw error
        failed()
        const seconds = pause
        pause = Math.min(MAX_PAUSE_SECONDS, 2 * pause)
        const event: TargetEvent = { kind: 'internal error', target, error, seconds }
        return concat(of(event), timer(seconds * 1000, clock.scheduler).pipe(takeUntil(draining$), ignoreElements()))
      }),
    )
}
