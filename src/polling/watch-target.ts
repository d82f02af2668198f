import { defer, exhaustMap, filter, finalize, from, map, merge, share, takeUntil, timer, type Observable } from 'rxjs'
import { asCommitted, cycle$, type CycleEvent, type CycleOptions } from './cycle.ts'
import { newListMemory } from './list-memory.ts'

export type WatchOptions<Committed> = Omit<CycleOptions<Committed>, 'askedAt' | 'memory'> & {
  /** Seconds until the first cycle, so that many targets do not all ask at once. */
  offset: number
  /** Evaluates what goes by time alone; resolves like `fold`. */
  tick: () => Promise<Committed | undefined>
  /** Emits when no new cycle is to begin. */
  stop$: Observable<unknown>
}

export type WatchEvent<Committed> = CycleEvent<Committed> | { kind: 'skipped' }

/**
 * Watches one target until `stop$`: a cycle each interval, and none beside a running one. Completes when the last cycle
 * has ended; never errors.
 */
export function watchTarget<Committed>(options: WatchOptions<Committed>): Observable<WatchEvent<Committed>> {
  const { clock, state, poll, offset, tick, stop$ } = options
  return defer(() => {
    let running = false
    const askedAt = new Map<string, number>()
    const { lastComplete, list } = state.facts
    const sweptAt =
      lastComplete === undefined ? undefined : clock.monotonic() - Math.max(0, clock.wall() - lastComplete)
    const memory = newListMemory(list, sweptAt)
    const tick$ = timer(offset * 1000, poll.interval * 1000, clock.scheduler).pipe(takeUntil(stop$), share())
    const skipped$ = tick$.pipe(
      filter(() => running),
      map(() => ({ kind: 'skipped' }) as const),
    )
    const cycles$ = tick$.pipe(
      exhaustMap(() => {
        running = true
        return cycle$({ ...options, askedAt, memory }).pipe(finalize(() => (running = false)))
      }),
    )
    const timers$ = tick$.pipe(
      // A tick whose commit fails is made up for by the next one; the cycle's report tells of the store.
      exhaustMap(() => from(tick().catch(() => undefined))),
      asCommitted,
    )
    return merge(skipped$, cycles$, timers$)
  })
}
