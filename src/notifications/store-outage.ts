import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  from,
  map,
  merge,
  of,
  retry,
  switchMap,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Delivery } from './delivery/batch.ts'
import type { StoreMessage } from './message.ts'
import { DeliveryError } from '../network/delivery-error.ts'
import type { Receiver } from './receiver.ts'

export type OutageOptions = {
  /** The active ones. */
  receivers: () => readonly Receiver[]
  clock: Clock
  /** The store must have failed for so long (seconds): a short problem does not count. */
  after: number
}

const RETRIES = 5
const MAX_DELAY_SECONDS = 60

/**
 * While the store cannot be written, nothing can be enqueued in its outbox: one message is sent without it, with a few
 * retries, and another when the store can be written again.
 *
 * @param problem$ after each attempt to commit, why it failed; undefined where it did not
 */
export function notifyOfOutage(
  problem$: Observable<string | undefined>,
  { receivers, clock, after }: OutageOptions,
): Observable<Delivery> {
  let notified: StoreMessage | undefined
  return problem$.pipe(
    distinctUntilChanged((before, now) => (before === undefined) === (now === undefined)),
    switchMap((problem) => {
      const at = clock.wall()
      if (problem !== undefined) {
        const failing: StoreMessage = { kind: 'store', state: 'failing', problem, since: at, at }
        return timer(after * 1000, clock.scheduler).pipe(
          switchMap(() => {
            notified = { ...failing, at: clock.wall() }
            return deliverToAll(notified)
          }),
        )
      }
      if (notified === undefined) return EMPTY
      const recovered: StoreMessage = { ...notified, state: 'recovered', at }
      notified = undefined
      return deliverToAll(recovered)
    }),
  )

  function deliverToAll(message: StoreMessage): Observable<Delivery> {
    return merge(...receivers().map((receiver) => deliver(receiver, message)))
  }

  function deliver(receiver: Receiver, message: StoreMessage): Observable<Delivery> {
    return defer(() => from(receiver.send(message))).pipe(
      map(() => ({ receiver: receiver.name, message, outcome: 'sent' as const })),
      retry({
        count: RETRIES,
        delay: (error, attempt) => {
          if (!(error instanceof DeliveryError) || !error.retryable) throw error
          return timer(1000 * Math.min(MAX_DELAY_SECONDS, error.retryAfter ?? 2 ** (attempt - 1)), clock.scheduler)
        },
      }),
      catchError((error: Error) =>
        of({ receiver: receiver.name, message, outcome: 'dropped' as const, problem: error.message }),
      ),
    )
  }
}
