import { incidentsOf, type Incident } from '../../alerts/incidents.ts'
import type { ToldGroup } from '../../store/store.ts'
import type { AlertMessage } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Attempts } from './attempts.ts'
import { momentOf, type Batch } from './batch.ts'
import { compose } from './compose.ts'
import type { Round } from './deliver.ts'
import type { DeliverOptions } from './deliver-outbox.ts'
import { inhibition } from './inhibition.ts'

/** The least time between two edits of a message, and between any two edits (seconds). Slack allows fifty a minute. */
const EVERY_SECONDS = 10
const PACE_SECONDS = 2

/** Edits the messages of incidents at a receiver that can, one a round, so that their numbers are true while the incidents last. */
export function editRound(receiver: MessageReceiver, attempts: Attempts, options: DeliverOptions): Round {
  const { store, clock, groupOf, inhibit, isNotified, publicUrl, targets = () => 1 } = options
  const { name } = receiver
  const inhibitorsAmong = inhibition(inhibit, isNotified)
  /** When each was edited last (monotonic seconds). */
  const edited = new Map<string, number>()
  const stage = compose({ receiver: name, publicUrl, targets })

  /** The group whose message is edited next. */
  function nextOf(told: ReadonlyMap<string, ToldGroup>): string | undefined {
    const since = (group: string) => clock.monotonic() - (edited.get(group) ?? -Infinity)
    for (const group of edited.keys()) if (!told.has(group)) edited.delete(group)
    if (edited.keys().some((group) => since(group) < PACE_SECONDS)) return undefined
    const isDue = ([group, { posted, targets: on }]: [string, ToldGroup]) =>
      posted !== undefined && on > 0 && since(group) >= EVERY_SECONDS
    return [...told].find(isDue)?.[0]
  }

  /** The message as it would be now; undefined if nothing fires, because the end is sent at once. */
  async function messageOf(group: string, told: ReadonlyMap<string, ToldGroup>): Promise<AlertMessage | undefined> {
    const [now, alerts] = [clock.wall(), options.alerts()]
    const incidents = () => incidentsOf(alerts, groupOf, targets())
    const past = async () => ({ silences: [], fired: [] })
    const read = { now, alerts, told, incidents, past, age: () => 0, silences: await store.silences(now) }
    const moment = momentOf(read, inhibitorsAmong)
    const incident = moment.incident(group)
    const made = incident && (await stage(unchangedIn(incident, options, now), moment))
    if (made?.kind !== 'message' || made.message.kind !== 'alerts') return undefined
    return { ...made.message, isEdit: true }
  }

  return async () => {
    if (receiver.edits !== true || attempts.isPaused()) return undefined
    const told = await store.toldGroups(name)
    const group = nextOf(told)
    if (group === undefined) return undefined
    edited.set(group, clock.monotonic())
    const message = await messageOf(group, told)
    if (message === undefined) return undefined
    let posted: string | undefined
    const work = async () => (posted = (await receiver.send(message)) ?? undefined)
    const { mayHaveArrived: _, ...attempt } = await attempts.attempt(work, { subject: group })
    const before = told.get(group)!
    // A message that was deleted was posted again.
    if (posted !== undefined && posted !== before.posted)
      await store.removeFromOutbox([], [], { receiver: name, group, told: { ...before, posted } })
    return attempt.outcome === 'sent' ? undefined : { receiver: name, ...attempt }
  }
}

/** All that fires in an incident, as if it had changed. */
function unchangedIn({ alerts, firing }: Incident, { groupOf }: DeliverOptions, at: number): Batch {
  return {
    kind: 'ready',
    group: groupOf(firing[0]!),
    alerts: alerts.map((alert) => {
      const notification = { ...alert, kind: 'firing' as const, at }
      const update = { notification, flaps: 0 }
      return {
        alert: { entries: [], changes: [notification] },
        merged: { kind: 'update', update, isNew: false, firstAt: at },
      }
    }),
  }
}
