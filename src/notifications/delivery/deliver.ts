import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { State, StateReceiver } from '../receiver.ts'
import type { Attempts } from './attempts.ts'
import type { Delivery } from './batch.ts'

/** Looks for what there is to deliver to a receiver, and attempts it; undefined where nothing is due. */
export type Round = () => Promise<Delivery | undefined>

/**
 * Delivers to one receiver until `draining$`, at most one message a second. A store that cannot be used is asked again.
 *
 * @param rounds the first of them with something that is due has this second
 */
export function deliver(
  rounds: readonly Round[],
  { clock, draining$ }: { clock: Clock; draining$: Observable<unknown> },
): Observable<Delivery> {
  async function next(): Promise<Delivery | undefined> {
    for (const round of rounds) {
      const delivery = await round().catch(onlyStoreErrors(undefined))
      if (delivery !== undefined) return delivery
    }
    return undefined
  }
  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(next),
    filter((delivery) => delivery !== undefined),
  )
}

/** Brings a receiver of the state up to date. */
export function stateRound({ name, refresh }: StateReceiver, attempts: Attempts, state: State): Round {
  return async () => {
    let work: ReturnType<typeof refresh>
    try {
      // Also while nothing may be sent: what ends now ended now.
      work = refresh(state)
    } catch (error) {
      work = () => Promise.reject(error)
    }
    if (work === undefined || attempts.isPaused()) return undefined
    const { mayHaveArrived: _, ...attempt } = await attempts.attempt(work)
    return { receiver: name, ...attempt }
  }
}
