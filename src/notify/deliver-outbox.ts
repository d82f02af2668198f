import { concatMap, EMPTY, exhaustMap, from, of, takeUntil, timer, type Observable } from 'rxjs'
import type { Notification } from '../alerts/notification.ts'
import type { Clock } from '../clock/clock.ts'
import type { Store } from '../store/store.ts'
import { DeliveryError, type Notifier } from './notifier.ts'

/** What became of one attempt to deliver. */
export type Delivery = {
  notifier: string
  notification: Notification
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why it was not sent. */
  problem?: string
}

export type DeliverOptions = {
  store: Pick<Store, 'nextOutboxEntry' | 'removeOutboxEntry'>
  clock: Clock
  /** How long a firing alert waits before it is sent (seconds). */
  groupWait: number
  /** Emits when nothing more is to be sent; a delivery under way is finished. */
  stop$: Observable<unknown>
}

const FIRST_DELAY = 1
const LONGEST_DELAY = 300

/**
 * Sends what waits in the outbox, in order and one a second, until `stop$`. An entry leaves the outbox after it was
 * accepted, or refused for good; a failing receiver is tried again after longer and longer waits, up to five minutes.
 * Never errors: a store that cannot be read is asked again.
 */
export function deliverOutbox(
  notifier: Notifier,
  { store, clock, groupWait, stop$ }: DeliverOptions,
): Observable<Delivery> {
  let failures = 0
  let notBefore = 0

  async function deliverNext(): Promise<Delivery | undefined> {
    if (clock.monotonic() < notBefore) return undefined
    const entry = await store.nextOutboxEntry(notifier.name)
    if (entry === undefined) return undefined
    const { id, notification } = entry
    if (notification.kind === 'firing' && clock.wall() < notification.at + groupWait) return undefined
    try {
      await notifier.deliver(notification)
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      if (!error.retryable) {
        await store.removeOutboxEntry(id)
        return { notifier: notifier.name, notification, outcome: 'dropped', problem: error.message }
      }
      failures += 1
      const wait = error.retryAfter ?? Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (failures - 1))
      notBefore = clock.monotonic() + wait
      return { notifier: notifier.name, notification, outcome: 'retried', problem: error.message }
    }
    failures = 0
    await store.removeOutboxEntry(id)
    return { notifier: notifier.name, notification, outcome: 'sent' }
  }

  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(stop$),
    exhaustMap(() => from(deliverNext().catch(() => undefined))),
    concatMap((delivery) => (delivery === undefined ? EMPTY : of(delivery))),
  )
}
