import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
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
/** A receiver that asks for a longer wait than this (seconds) is asked again all the same: alerts are at stake. */
const LONGEST_RETRY_AFTER = 3600

/**
 * Sends what waits in the outbox, in order and one a second, until `stop$`. An entry leaves the outbox after it was
 * accepted, or refused for good; a failing receiver is tried again after longer and longer waits, up to five minutes.
 * Never errors: a store that cannot be used is asked again.
 */
export function deliverOutbox(
  notifier: Notifier,
  { store, clock, groupWait, stop$ }: DeliverOptions,
): Observable<Delivery> {
  let failures = 0
  let notBefore = 0
  // The entry that was dealt with, but could not be taken out of the outbox yet. It must not be sent again.
  let settled: number | undefined

  async function deliverNext(): Promise<Delivery | undefined> {
    if (clock.monotonic() < notBefore) return undefined
    await removeSettled()
    const entry = await store.nextOutboxEntry(notifier.name)
    if (entry === undefined || isGathering(entry.notification)) return undefined
    const delivery = await attempt(entry.notification)
    if (delivery.outcome !== 'retried') {
      settled = entry.id
      await removeSettled().catch(() => undefined)
    }
    return delivery
  }

  async function removeSettled(): Promise<void> {
    if (settled === undefined) return
    await store.removeOutboxEntry(settled)
    settled = undefined
  }

  function isGathering({ kind, at }: Notification): boolean {
    const age = clock.wall() - at
    // Where the clock was set back since, there is no telling how long it has waited.
    return kind === 'firing' && age >= 0 && age < groupWait
  }

  async function attempt(notification: Notification): Promise<Delivery> {
    try {
      await notifier.deliver(notification)
      failures = 0
      return { notifier: notifier.name, notification, outcome: 'sent' }
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      // What fails in another way than by a refusal would fail again, and hold up all that waits behind it.
      if (!(error instanceof DeliveryError) || !error.retryable) {
        failures = 0
        return { notifier: notifier.name, notification, outcome: 'dropped', problem }
      }
      failures += 1
      const backoff = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (failures - 1))
      notBefore = clock.monotonic() + Math.min(error.retryAfter ?? backoff, LONGEST_RETRY_AFTER)
      return { notifier: notifier.name, notification, outcome: 'retried', problem }
    }
  }

  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(stop$),
    exhaustMap(() => deliverNext().catch(() => undefined)),
    filter((delivery) => delivery !== undefined),
  )
}
