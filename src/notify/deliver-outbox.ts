import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { LiveAlert } from '../alerts/alert-instance.ts'
import type { Clock } from '../clock/clock.ts'
import { onlyStoreErrors } from '../store/only-store-errors.ts'
import type { Store } from '../store/store.ts'
import type { Message } from './message.ts'
import { nextDelivery } from './next-delivery.ts'
import { DeliveryError, type Notifier } from './notifier.ts'
import { suppressionAt, unwantedAt, type Mute } from './suppression.ts'

/** What became of one attempt to deliver. */
export type Delivery = {
  notifier: string
  message: Message
  outcome: 'sent' | 'retried' | 'dropped'
  /** Why it was not sent. */
  problem?: string
  /** A mistake of our own that kept it from being sent. */
  error?: unknown
}

export type DeliverOptions = {
  store: Pick<Store, 'outbox' | 'claimOutbox' | 'removeFromOutbox' | 'silences'>
  clock: Clock
  /** How long a firing alert waits for others before it is sent (seconds). */
  groupWait: number
  mutes: readonly Mute[]
  /** The alerts of all targets as they are now. */
  alerts: () => readonly LiveAlert[]
  /**
   * What was dealt with, but could not be taken out of the outbox yet, by notifier: it must not be sent again, also not when
   * sending is ended and begun anew. Changed in place.
   */
  settled?: Map<string, readonly number[]>
  /** Emits when nothing more is to be sent; a delivery under way is finished. */
  stop$: Observable<unknown>
}

const FIRST_DELAY = 1
const LONGEST_DELAY = 300
/** A receiver that asks for a longer wait than this (seconds) is asked again all the same: alerts are at stake. */
const LONGEST_RETRY_AFTER = 3600

/**
 * Sends what waits in the outbox, one message a second, until `stop$`. What a message is made of is claimed before and
 * leaves the outbox after it was accepted, or refused for good; a failing receiver is tried again after longer and
 * longer waits, up to five minutes, with what is to be said by then; so is a mistake of our own in telling it, as no message is to
 * be lost for that. A store that cannot be used is asked again.
 */
export function deliverOutbox(notifier: Notifier, options: DeliverOptions): Observable<Delivery> {
  const { store, clock, groupWait, mutes, settled = new Map<string, readonly number[]>(), stop$ } = options
  let failures = 0
  let notBefore = 0

  async function deliverNext(): Promise<Delivery | undefined> {
    if (clock.monotonic() < notBefore) return undefined
    await removeSettled()
    const entries = await store.outbox(notifier.name)
    if (entries.length === 0) return undefined
    const now = clock.wall()
    const silences = await store.silences(now)
    const alerts = options.alerts()
    const isSuppressed = suppressionAt({ mutes, silences, alerts, now })
    const isUnwanted = unwantedAt({ mutes, silences, now })
    const next = nextDelivery(entries, { now, groupWait, isSuppressed, isUnwanted, silences, alerts })
    if (next === undefined) return undefined
    const { ids, message } = next
    if (message === undefined) {
      await store.removeFromOutbox(ids)
      return undefined
    }
    // What was claimed before may have been told by a process that died since: that claim is not ours to take back.
    const claims = entries.filter(({ id, claimed }) => !claimed && ids.includes(id)).map(({ id }) => id)
    // Also where nothing is left to claim: the store refuses it to who is not to send.
    await store.claimOutbox(claims, true)
    const { mayHaveArrived, ...delivery } = await attempt(message)
    if (delivery.outcome === 'retried') {
      if (mayHaveArrived) return delivery
      // A claim that stays is only less than it could be: its alerts count as told.
      await store.claimOutbox(claims, false).catch(onlyStoreErrors(undefined))
    } else {
      settled.set(notifier.name, ids)
      await removeSettled().catch(onlyStoreErrors(undefined))
    }
    return delivery
  }

  async function removeSettled(): Promise<void> {
    const ids = settled.get(notifier.name)
    if (ids === undefined) return
    await store.removeFromOutbox(ids)
    settled.delete(notifier.name)
  }

  async function attempt(message: Message): Promise<Delivery & { mayHaveArrived: boolean }> {
    try {
      await notifier.deliver(message)
      failures = 0
      return { notifier: notifier.name, message, outcome: 'sent', mayHaveArrived: true }
    } catch (error) {
      if (!(error instanceof DeliveryError)) {
        holdOff(undefined)
        return {
          notifier: notifier.name,
          message,
          outcome: 'retried',
          problem: 'internal error',
          error,
          mayHaveArrived: true,
        }
      }
      const problem = error.message
      if (!error.retryable) {
        failures = 0
        return { notifier: notifier.name, message, outcome: 'dropped', problem, mayHaveArrived: false }
      }
      holdOff(error.retryAfter)
      return { notifier: notifier.name, message, outcome: 'retried', problem, mayHaveArrived: error.mayHaveArrived }
    }
  }

  function holdOff(retryAfter: number | undefined): void {
    failures += 1
    const backoff = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (failures - 1))
    notBefore = clock.monotonic() + Math.min(retryAfter ?? backoff, LONGEST_RETRY_AFTER)
  }

  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(stop$),
    exhaustMap(() => deliverNext().catch(onlyStoreErrors(undefined))),
    filter((delivery) => delivery !== undefined),
  )
}
