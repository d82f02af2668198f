import { defer, exhaustMap, filter, finalize, from, map, merge, share, takeUntil, timer, type Observable } from 'rxjs'
import { onlyStoreErrors } from '../store/only-store-errors.ts'
import { asCommitted, cycle$, type CycleEvent, type CycleOptions } from './cycle.ts'
import { newWatchMemory, type WatchMemory } from './watch-memory.ts'

/** How far a reading of the whole list has come. */
export type Progress = {
  /** Pages read. */
  done: number
  /** Pages that there are, as far as the service says. */
  of: number | undefined
}

/** That of the sweep which is under way. */
export function progressOf({ list }: WatchMemory): Progress | undefined {
  const sweep = list.main ?? list.sweep
  if (sweep === undefined) return undefined
  const { done, lastPage } = sweep
  // Of a list that moves a page may be read twice.
  return { done, of: lastPage && Math.max(done, lastPage) }
}

export type WatchOptions<Committed> = Omit<CycleOptions<Committed>, 'memory'> & {
  /** That of the watch which this one follows upon; a new one unless given. */
  memory?: WatchMemory | undefined
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
 * has ended; errors only by a mistake of our own.
 */
export function watchTarget<Committed>(options: WatchOptions<Committed>): Observable<WatchEvent<Committed>> {
  const { clock, state, poll, offset, tick, stop$ } = options
  return defer(() => {
    let running = false
    const memory = options.memory ?? newWatchMemory(state, clock)
    const tick$ = timer(offset * 1000, poll.interval * 1000, clock.scheduler).pipe(takeUntil(stop$), share())
    const skipped$ = tick$.pipe(
      filter(() => running),
      map(() => ({ kind: 'skipped' }) as const),
    )
    const cycles$ = tick$.pipe(
      exhaustMap(() => {
        running = true
        return cycle$({ ...options, memory }).pipe(finalize(() => (running = false)))
      }),
    )
    const timers$ = tick$.pipe(
      // A tick whose commit fails is made up for by the next one; the cycle's report tells of the store.
      exhaustMap(() => from(tick().catch(onlyStoreErrors(undefined)))),
      asCommitted,
    )
    return merge(skipped$, cycles$, timers$)
  })
}
