import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { State, StateReceiver, MessageReceiver } from '../receiver.ts'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Attempts } from './attempts.ts'
import { alertNameOf, group, isChange, type Delivery, type Batch, type Composed } from './waiting-alert.ts'
import type { LiveAlert } from '../../alerts/alert.ts'
import type { Store } from '../../store/store.ts'
import type { GroupOf } from '../grouping.ts'
import { compose } from './compose.ts'
import { suppress, type Inhibited, type Inhibition, type Mute } from './suppress.ts'
import { readMoment, type Moment } from './moment.ts'
import { sendMessage, writeFound, writeRest, type Unwritten } from './send-message.ts'
import { newAges, wait } from './wait.ts'

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

/**
 * Brings a receiver of the state up to date.
 *
 * @param expectLeader rejects with a StoreError if another daemon sends the state now
 */
export function stateRound(
  { name, refresh }: StateReceiver,
  attempts: Attempts,
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
    if (work === undefined || attempts.isPaused()) return undefined
    await expectLeader()
    const attempt = await attempts.attempt(work)
    return { receiver: name, ...attempt }
  }
}

export type DeliverOptions = {
  store: Pick<
    Store,
    'outbox' | 'toldGroups' | 'claimOutbox' | 'removeFromOutbox' | 'noteEpisodes' | 'silences' | 'rows'
  >
  clock: Clock
  groupOf: GroupOf
  mutes: readonly Mute[]
  inhibit: readonly Inhibition[]
  /** Whether this receiver is notified of an alert; default: of all alerts. */
  isNotified?: ((alert: Inhibited) => boolean) | undefined
  /** The page's address for users, if known. */
  publicUrl?: string | undefined
  /** The alerts of all targets as they are now. */
  alerts: () => readonly LiveAlert[]
  /** How many targets there are. */
  targets: () => number
  /** What was evaluated before this time (UNIX seconds) is old; default: nothing. */
  freshFrom?: () => number
  unwritten: Unwritten
}

/**
 * Delivers from the outbox, one message a round. Claims the entries of a message before it is sent, and removes them once the
 * receiver accepted or permanently refused it. After a failure, the next message contains everything that waits by then.
 */
export function outboxRound(receiver: MessageReceiver, attempts: Attempts, options: DeliverOptions): Round {
  const { store, clock, groupOf, unwritten } = options
  const { name } = receiver
  const write = writeFound(name, store)
  const [ages, toldAges] = [newAges(clock), newAges(clock)]

  return async () => {
    await writeRest(name, store, unwritten)
    if (attempts.isPaused()) return undefined
    const entries = await store.outbox(name)
    const age = ages()
    if (entries.length === 0) return undefined
    const toldAge = toldAges()
    const told = await store.toldGroups(name)
    // Also of groups that this round does not reach: what is not asked for is forgotten.
    for (const { at, interval } of told.values()) for (const time of [at, interval]) toldAge(`${time}`, time)
    for (const { id, content } of entries.filter(isChange)) age(String(id), content.at)
    const moment = await readMoment(entries, { told, age, toldAge }, options)
    attempts.keepRefused(moment.waiting)
    for (const batch of group(entries, groupOf).flatMap((all) => offered(all, attempts))) {
      const composed = 'message' in batch ? batch : await due(batch, moment)
      if (composed === undefined) continue
      // Before the message: if what is discarded stayed, it might follow.
      await write(moment)
      return sendMessage(composed, moment.now, { ...options, receiver, attempts })
    }
    await write(moment)
    return undefined
  }
}

/** What of a batch may be sent now, after what the receiver has refused. */
function offered(batch: Batch | Composed, attempts: Attempts): (Batch | Composed)[] {
  if ('message' in batch) return attempts.isPaused(batch.subject) ? [] : [batch]
  const alerts = new Map(batch.alerts.map((alert) => [alertNameOf(alert.entries[0]!.content), alert]))
  return attempts.offered(batch.group.key, alerts).map((part) => ({ ...batch, alerts: part }))
}

/** The message about a group, if one is due. */
export async function due({ group: own, alerts }: Batch, moment: Moment): Promise<Composed | undefined> {
  const ready = wait({ group: own, alerts: await suppress(alerts, moment) }, moment)
  return ready.length === 0 ? undefined : compose(own, ready, moment)
}
