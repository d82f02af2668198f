import { exhaustMap, filter, from, mergeMap, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Message } from '../message.ts'
import type { State, StateReceiver } from '../receiver.ts'
import type { Attempt, BackOff } from './back-off.ts'

/** The outcome of one attempt to deliver to a receiver. */
export type Delivery = Attempt & {
  /** The receiver's name, and its key if several have this name. */
  receiver: string
  key?: string
  /** The message; absent if a state was delivered. */
  message?: Message
}

/** What is to be done for a receiver now: the attempts that were begun. */
export type Round = () => Promise<readonly Promise<Delivery | undefined>[]>

/** Each second, the first round that begins something is used, until `draining$`; what was begun is brought to its end. */
export function deliver(
  rounds: readonly Round[],
  { clock, draining$ }: { clock: Clock; draining$: Observable<unknown> },
): Observable<Delivery> {
  async function next() {
    for (const round of rounds) {
      const begun = await round().catch(onlyStoreErrors([]))
      if (begun.length > 0) return begun
    }
    return []
  }
  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(next),
    mergeMap((begun) => from(begun).pipe(mergeMap((one) => one))),
    filter((delivery) => delivery !== undefined),
  )
}

/**
 * Brings a receiver of the state up to date.
 *
 * @param expectLeader rejects with a StoreError if another daemon sends the state now
 */
export function stateRound(
  { name, refresh }: StateReceiver,
  pause: BackOff,
  state: State,
  expectLeader: () => Promise<void>,
): Round {
  return async () => {
    let work: ReturnType<typeof refresh>
    try {
      // Runs during a pause as well: an alert that ends now must get this end time.
      work = refresh(state)
    } catch (error) {
      work = () => Promise.reject(error)
    }
    if (work === undefined || pause.left() > 0) return []
    await expectLeader()
    const attempt = await pause.attempt(work)
    return [Promise.resolve({ receiver: name, ...attempt })]
  }
}
