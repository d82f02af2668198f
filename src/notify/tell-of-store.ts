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
import type { Delivery } from './deliver-outbox.ts'
import type { StoreMessage } from './message.ts'
import { DeliveryError, type Notifier } from './notifier.ts'

export type TellOfStoreOptions = {
  notifiers: readonly Notifier[]
  clock: Clock
  /** The store must have failed for so long (seconds): a moment's trouble is none. */
  patience: number
}

const RETRIES = 5
const LONGEST_DELAY = 60

/**
 * When the store cannot be written, nothing can be put into its outbox: one message goes out past it, as well as it can,
 * and another when the store can be written again.
 *
 * @param trouble$ after each attempt to commit, why it failed; undefined where it did not
 */
export function tellOfStore(
  trouble$: Observable<string | undefined>,
  { notifiers, clock, patience }: TellOfStoreOptions,
): Observable<Delivery> {
  let told: StoreMessage | undefined
  return trouble$.pipe(
    distinctUntilChanged((before, now) => (before === undefined) === (now === undefined)),
    switchMap((problem) => {
      const at = clock.wall()
      if (problem !== undefined) {
        const failing: StoreMessage = { kind: 'store', state: 'failing', problem, since: at, at }
        return timer(patience * 1000, clock.scheduler).pipe(
          switchMap(() => {
            told = { ...failing, at: clock.wall() }
            return deliverToAll(told)
          }),
        )
      }
      if (told === undefined) return EMPTY
      const recovered: StoreMessage = { ...told, state: 'recovered', at }
      told = undefined
      return deliverToAll(recovered)
    }),
  )

  function deliverToAll(message: StoreMessage): Observable<Delivery> {
    return merge(...notifiers.map((notifier) => deliver(notifier, message)))
  }

  function deliver(notifier: Notifier, message: StoreMessage): Observable<Delivery> {
    return defer(() => from(notifier.deliver(message))).pipe(
      map(() => ({ notifier: notifier.name, message, outcome: 'sent' as const })),
      retry({
        count: RETRIES,
        delay: (error, attempt) => {
          if (!(error instanceof DeliveryError) || !error.retryable) throw error
          return timer(1000 * Math.min(LONGEST_DELAY, error.retryAfter ?? 2 ** (attempt - 1)), clock.scheduler)
        },
      }),
      catchError((error: Error) =>
        of({ notifier: notifier.name, message, outcome: 'dropped' as const, problem: error.message }),
      ),
    )
  }
}
