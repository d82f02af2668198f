import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { State, StateReceiver } from '../receiver.ts'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Attempts } from './attempts.ts'
import type { Delivery } from './waiting-alert.ts'

/** Attempts to deliver what is due for a receiver; undefined if nothing is due. */
export type Round = () => Promise<Delivery | undefined>

/**
 * Delivers to one receiver until `draining$`, at most one message a second. Retries if the store cannot be used.
 *
 * @param rounds each second, the first round that has something due is used
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
      // Runs during a pause as well: an alert that ends now must get this end time.
      work = refresh(state)
    } catch (error) {
      work = () => Promise.reject(error)
    }
    if (work === undefined || attempts.isPaused()) return undefined
    const attempt = await attempts.attempt(work)
    return { receiver: name, ...attempt }
  }
}
