import { incidentsOf, type Incident } from '../../alerts/incidents.ts'
import type { ToldGroup } from '../../store/store.ts'
import type { AlertMessage } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import { attemptsOn } from './attempts.ts'
import { momentOf, type Batch, type Moment } from './batch.ts'
import { compose } from './compose.ts'
import type { Round } from './deliver.ts'
import type { DeliverOptions } from './deliver-outbox.ts'
import { alertOf, withWaiting } from './group.ts'
import { inhibition } from './inhibition.ts'
import { lasting } from './wait.ts'

/** The least time between two edits of a message, and between any two edits (seconds). Slack allows fifty a minute. */
const EVERY_SECONDS = 10
const PACE_SECONDS = 2

/**
 * Edits the messages of incidents at a receiver that can, one a round, so that their numbers are true while the incidents last. A
 * failure delays no message, and is retried after a pause of its own.
 */
export function editRound(receiver: MessageReceiver, options: DeliverOptions): Round {
  const { store, clock, publicUrl, mutes, targets = () => 1 } = options
  const { name } = receiver
  const attempts = attemptsOn(clock)
  let hasFailed = false
  /** When each was edited last (monotonic seconds). */
  const edited = new Map<string, number>()
  const stage = compose({ receiver: name, publicUrl, targets, mutes })

  /** The group whose message is edited next: of those that are due, the one that was edited least recently. */
  function nextOf(told: ReadonlyMap<string, ToldGroup>): string | undefined {
    const editedAt = (group: string) => edited.get(group) ?? -Infinity
    for (const group of edited.keys()) if (!told.has(group)) edited.delete(group)
    if (edited.values().some((at) => clock.monotonic() - at < PACE_SECONDS)) return undefined
    const due = [...told].flatMap(([group, { posted, targets: on }]) => {
      const isDue = clock.monotonic() - editedAt(group) >= EVERY_SECONDS && !attempts.isPaused(group)
      return posted !== undefined && on > 0 && isDue ? group : []
    })
    return due.toSorted((a, b) => editedAt(a) - editedAt(b))[0]
  }

  /** The incident as it is now; undefined if nothing of what was told fires any more. */
  async function messageNow(group: string, told: ReadonlyMap<string, ToldGroup>): Promise<AlertMessage | undefined> {
    const moment = await momentNow(name, told, options)
    const incident = lasting(moment, group, []) && moment.incident(group)
    const made = incident && (await stage(unchangedIn(incident, options, moment.now), moment))
    return made?.kind === 'message' && made.message.kind === 'alerts' ? made.message : undefined
  }

  return async () => {
    if (receiver.edits !== true || attempts.isPaused()) return undefined
    const told = await store.toldGroups(name)
    const group = nextOf(told)
    if (group === undefined) return undefined
    edited.set(group, clock.monotonic())
    const before = told.get(group)!
    const message = await messageNow(group, told)
    let posted = before.posted!
    const work = async () =>
      (posted = (await receiver.send({ ...(message ?? overOf(before)), isEdit: true })) ?? posted)
    const { mayHaveArrived: _, ...attempt } = await attempts.attempt(work, { subject: group })
    const isSent = attempt.outcome === 'sent'
    // It was posted again, because somebody had deleted it, or nothing fires any more and no end was sent.
    if (isSent && (message === undefined || posted !== before.posted)) {
      const next = message === undefined ? { ...before, targets: 0 } : { ...before, posted }
      await store.removeFromOutbox([], [], { receiver: name, group, told: next })
    }
    const isNews = !isSent || hasFailed
    hasFailed = !isSent
    return isNews ? { receiver: name, ...attempt } : undefined
  }
}

/** The moment without a past: nothing waits for the message. */
async function momentNow(
  name: string,
  told: ReadonlyMap<string, ToldGroup>,
  { store, clock, groupOf, inhibit, isNotified, targets = () => 1, ...options }: DeliverOptions,
): Promise<Moment> {
  const [now, entries] = [clock.wall(), await store.outbox(name)]
  const alerts = withWaiting(options.alerts(), entries)
  const waiting = new Set(entries.map(({ content }) => alertOf(content)))
  const incidents = () => incidentsOf(alerts, groupOf, targets())
  const past = async () => ({ silences: [], fired: [] })
  const none = { age: () => 0, toldAge: () => 0, past }
  const read = { ...none, now, alerts, told, waiting, incidents, silences: await store.silences(now) }
  return momentOf(read, inhibition(inhibit, isNotified))
}

/** The message of an incident whose end was not notified, because it was silenced or muted. */
function overOf({ begun, posted, severity }: ToldGroup): AlertMessage {
  const nothing = {
    alerts: [],
    unchanged: [],
    flapped: [],
    silenced: [],
    inhibited: [],
    incident: undefined,
    targets: 0,
  }
  return {
    kind: 'alerts',
    group: {},
    route: undefined,
    target: undefined,
    severity,
    begun,
    posted: posted!,
    ...nothing,
  }
}

/** All that fires in an incident, as if it had changed. */
function unchangedIn({ firing }: Incident, { groupOf }: DeliverOptions, at: number): Batch {
  return {
    kind: 'ready',
    group: groupOf(firing[0]!),
    alerts: firing.map((alert) => {
      const notification = { ...alert, kind: 'firing' as const, at }
      const update = { notification, flaps: 0 }
      return {
        alert: { entries: [], changes: [notification] },
        merged: { kind: 'update', update, isNew: false, firstAt: at },
      }
    }),
  }
}
