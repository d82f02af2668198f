import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { LiveAlert } from '../../alerts/alert-instance.ts'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
import type { Receiver } from '../receiver.ts'
import type { Batch, Delivery, Moment, Stage } from './batch.ts'
import { claim } from './claim.ts'
import { compose } from './compose.ts'
import { group } from './group.ts'
import { inhibition, type Inhibited, type Inhibition } from './inhibition.ts'
import { unknownTimes } from './merge-changes.ts'
import { suppressionNotes } from './note.ts'
import { pastSince, type Past } from './past.ts'
import { backoffOn, send } from './send.ts'
import { removeDelivered, acknowledge, type ToRemove } from './acknowledge.ts'
import { suppress, type Mute } from './suppress.ts'
import { wait } from './wait.ts'

export type DeliverOptions = {
  store: Pick<Store, 'outbox' | 'claimOutbox' | 'removeFromOutbox' | 'noteEpisodes' | 'silences' | 'rows'>
  clock: Clock
  /** How long a firing alert waits for others before it is sent (seconds). */
  groupWait: number
  mutes: readonly Mute[]
  inhibit: readonly Inhibition[]
  /** Whether this receiver is notified of an alert; of all unless said otherwise. */
  isNotified?: ((alert: Inhibited) => boolean) | undefined
  /** How users reach the page, where that is known. */
  publicUrl?: string | undefined
  /** The alerts of all targets as they are now. */
  alerts: () => readonly LiveAlert[]
  toRemove?: ToRemove
  /** Emits when nothing more may be sent; a delivery under way is finished. */
  draining$: Observable<unknown>
}

/**
 * Delivers what waits in the outbox, one message a second, until `draining$`. The entries of a message are claimed before it
 * is sent, and removed after it was accepted, or refused for good. A failing receiver is retried after longer and longer
 * waits, up to five minutes, with a message of what waits by then. A store that cannot be used is asked again.
 */
export function deliverOutbox(receiver: Receiver, options: DeliverOptions): Observable<Delivery> {
  const { store, clock, groupWait, mutes, inhibit, isNotified, publicUrl, toRemove = new Map(), draining$ } = options
  const { name } = receiver
  const backoff = backoffOn(clock)
  const inhibitorsAmong = inhibition(inhibit, isNotified)
  const stages: readonly Stage[] = [
    suppress({ mutes, inhibitorsAmong }, suppressionNotes(store)),
    wait(groupWait),
    compose({ inhibitorsAmong, publicUrl }),
    claim(store),
    send(receiver, backoff),
    acknowledge(name, store, toRemove),
  ]

  /** The oldest batch that need not wait passes all stages. */
  async function round(): Promise<Delivery | undefined> {
    if (backoff.isPaused()) return undefined
    await removeDelivered(name, store, toRemove)
    const entries = await store.outbox(name)
    if (entries.length === 0) return undefined
    const now = clock.wall()
    const batches = group(entries)
    const waiting = batches.flatMap((batch) => (batch.kind === 'alerts' ? batch.alerts : []))
    const oldest = () => waiting.flatMap(unknownTimes).reduce((at, { from }) => Math.min(at, from), now)
    let read: Promise<Past> | undefined
    const past = () => (read ??= pastSince(store, oldest()))
    const moment = { now, silences: await store.silences(now), alerts: options.alerts(), past }
    for (const batch of batches) {
      const end = await pass(batch, stages, moment)
      if (end !== undefined) return end.kind === 'attempted' ? end.delivery : undefined
    }
    return undefined
  }

  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(() => round().catch(onlyStoreErrors(undefined))),
    filter((delivery) => delivery !== undefined),
  )
}

/** Passes a batch through these stages; undefined if it waits. */
export async function pass(batch: Batch, stages: readonly Stage[], moment: Moment): Promise<Batch | undefined> {
  let current: Batch | undefined = batch
  for (const stage of stages) {
    if (current === undefined) return undefined
    current = await stage(current, moment)
  }
  return current
}
