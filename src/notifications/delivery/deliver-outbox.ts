import type { LiveAlert } from '../../alerts/alert.ts'
import { incidentsOf } from '../../alerts/incidents.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Store } from '../../store/store.ts'
import type { GroupOf } from '../grouping.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Attempts } from './attempts.ts'
import { momentOf, type Batch, type Moment, type Stage } from './batch.ts'
import { pastSince } from './past.ts'
import { acknowledge, claim, writeFound, writeRest, type Unwritten } from './acknowledge.ts'
import { compose } from './compose.ts'
import { alertOf, group, withWaiting } from './group.ts'
import { inhibition, type Inhibited, type Inhibition } from './inhibition.ts'
import { unknownTimes } from './merge-changes.ts'
import { send, type Round } from './deliver.ts'
import { suppress, type Mute } from './suppress.ts'
import { newAges, wait } from './wait.ts'

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
  targets?: () => number
  unwritten?: Unwritten
}

/** The past that may explain an alert (seconds): the longest window of failed requests. */
const PAST_SECONDS = 1800

/**
 * Delivers from the outbox, one message a round. Claims the entries of a message before it is sent, and removes them once the
 * receiver accepted or permanently refused it. After a failure, the next message contains everything that waits by then.
 */
export function outboxRound(receiver: MessageReceiver, attempts: Attempts, options: DeliverOptions): Round {
  const { store, clock, groupOf, mutes, inhibit, isNotified, publicUrl } = options
  const { unwritten = new Map(), targets = () => 1 } = options
  const { name } = receiver
  const inhibitorsAmong = inhibition(inhibit, isNotified)
  const write = writeFound(name, store)
  const [ages, toldAges] = [newAges(clock, true), newAges(clock, false)]
  const stages: readonly Stage[] = [
    suppress(mutes),
    wait,
    compose({ receiver: name, publicUrl, targets, mutes }),
    claim(store, write),
    send(receiver, attempts),
    acknowledge(name, store, unwritten),
  ]

  // The oldest batch that need not wait passes through all stages.
  return async () => {
    await writeRest(name, store, unwritten)
    if (attempts.isPaused()) return undefined
    const entries = await store.outbox(name)
    const age = ages()
    if (entries.length === 0) return undefined
    const toldAge = toldAges()
    const now = clock.wall()
    const waitingFor = new Set(entries.map(({ content }) => alertOf(content)))
    attempts.keepRefused(waitingFor)
    const batches = group(entries, groupOf).flatMap((batch) => offered(batch, attempts))
    const waiting = batches.flatMap((batch) => (batch.kind === 'alerts' ? batch.alerts : []))
    const oldest = () => waiting.flatMap(unknownTimes).reduce((at, { from }) => Math.min(at, from), now - PAST_SECONDS)
    const past = () => pastSince(store, oldest())
    const [silences, told] = [await store.silences(now), await store.toldGroups(name)]
    // Also of groups that this round does not reach: what is not asked for is forgotten.
    for (const { at, interval } of told.values()) for (const time of [at, interval]) toldAge(`${time}`, time)
    const alerts = withWaiting(options.alerts(), entries)
    const incidents = () => incidentsOf(alerts, groupOf, targets())
    for (const { id, content } of entries) if (content.kind !== 'digest') age(String(id), content.at)
    const read = { now, silences, told, age, toldAge, alerts, past, incidents, waiting: waitingFor }
    const moment = momentOf(read, inhibitorsAmong)
    for (const batch of batches) {
      const end = await pass(batch, stages, moment)
      if (end !== undefined) return end.kind === 'attempted' ? end.delivery : undefined
    }
    await write(moment)
    return undefined
  }
}

/** What of a batch may be sent now, after what the receiver has refused. */
function offered(batch: Batch, attempts: Attempts): Batch[] {
  if (batch.kind === 'message') return attempts.isPaused(batch.subject) ? [] : [batch]
  if (batch.kind !== 'alerts') return [batch]
  const alerts = new Map(batch.alerts.map((alert) => [alertOf(alert.entries[0]!.content), alert]))
  return attempts.offered(batch.group.key, alerts).map((part) => ({ ...batch, alerts: part }))
}

/** Passes a batch through the stages; undefined if it waits. */
export async function pass(batch: Batch, stages: readonly Stage[], moment: Moment): Promise<Batch | undefined> {
  let current: Batch | undefined = batch
  for (const stage of stages) {
    if (current === undefined) return undefined
    current = await stage(current, moment)
  }
  return current
}
