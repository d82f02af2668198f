import { defer, lastValueFrom, repeat, takeUntil, takeWhile, tap, timer } from 'rxjs'
import { systemClock, type Clock } from '../clock/clock.ts'
import { StoreError } from '../store/store-error.ts'
import { storeRetried } from '../store/store-retried.ts'
import type { CommandContext } from './command.ts'
import { stopSignal } from './stop-signal.ts'

/**
 * Repeats the work until a signal, even while the store cannot be read.
 *
 * @param pause between the end of one and the start of the next (seconds)
 * @param continues false also ends it
 */
export async function untilStopped(
  work: () => Promise<void>,
  pause: number,
  { warn }: Pick<CommandContext, 'warn'>,
  continues = () => true,
  clock: Clock = systemClock,
): Promise<void> {
  let isReported = false
  const report = (error: unknown) => {
    if (!(error instanceof StoreError) || error.kind === 'refused') return
    if (!isReported) warn(`${error.message}; retries each second`)
    isReported = true
  }
  const work$ = defer(work).pipe(
    tap({ next: () => (isReported = false), error: report }),
    storeRetried(clock, ['refused']),
    repeat({ delay: () => timer(pause * 1000, clock.scheduler) }),
    takeWhile(continues),
    takeUntil(stopSignal()),
  )
  await lastValueFrom(work$, { defaultValue: undefined })
}
