import type { Incident } from '../../alerts/incidents.ts'
import type { ToldGroup } from '../../store/store.ts'
import type { AlertMessage } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import { attemptsOn } from './attempts.ts'
import type { ReadyAlert } from './waiting-alert.ts'
import { messageOf } from './compose.ts'
import type { Round, DeliverOptions } from './deliver.ts'
import { readMoment, type Moment } from './moment.ts'
import { sendMessage, writeRest } from './send-message.ts'
import { lasting } from './wait.ts'

/** The least time between two edits of a message, and between any two edits (seconds). Slack allows fifty a minute. */
const EVERY_SECONDS = 10
const PACE_SECONDS = 2

/**
 * Edits the messages of incidents at a receiver that can, one a round, so that their numbers are true while the incidents last. A
 * failure delays no message, and is retried after a pause of its own.
 */
export function editRound(receiver: MessageReceiver, options: DeliverOptions): Round {
  const { store, clock, unwritten } = options
  const { name } = receiver
  const attempts = attemptsOn(clock)
  let hasFailed = false
  /** When each was edited last (monotonic seconds). */
  const edited = new Map<string, number>()

  /** The group whose message is edited next: of those that are due, the one that was edited least recently. */
  function nextOf(told: ReadonlyMap<string, ToldGroup>): string | undefined {
    const editedAt = (group: string) => edited.get(group) ?? -Infinity
    if (edited.values().some((at) => clock.monotonic() - at < PACE_SECONDS)) return undefined
    const due = [...told].flatMap(([group, { posted, targets: on }]) => {
      const isDue = clock.monotonic() - editedAt(group) >= EVERY_SECONDS && !attempts.isPaused(group)
      return posted !== undefined && on > 0 && isDue ? group : []
    })
    return due.toSorted((a, b) => editedAt(a) - editedAt(b))[0]
  }

  return async () => {
    if (receiver.edits !== true || attempts.isPaused()) return undefined
    await writeRest(name, store, unwritten)
    const told = await store.toldGroups(name)
    const group = nextOf(told)
    if (group === undefined) return undefined
    edited.set(group, clock.monotonic())
    const before = told.get(group)!
    // Nothing waits for an edit.
    const moment = await readMoment(await store.outbox(name), { told, age: () => 0, toldAge: () => 0 }, options)
    // Nothing of what was told fires any more if none of it lasts.
    const incident = lasting(moment, group, []) && moment.incident(group)
    const content = incidentNow(incident, before, moment)
    const edit = { subject: group, entries: [], message: content, told: incident ? before : { ...before, targets: 0 } }
    const { message: _, ...delivery } = await sendMessage(edit, moment.now, { ...options, receiver, attempts })
    const isNews = delivery.outcome !== 'sent' || hasFailed
    hasFailed = delivery.outcome !== 'sent'
    return isNews ? delivery : undefined
  }
}

/** All that fires in an incident, as if it had changed; or that nothing does, if its end was not notified, because it was silenced or muted. */
function incidentNow(incident: Incident | undefined, told: ToldGroup, moment: Moment): AlertMessage {
  const alerts = (incident?.firing ?? []).map((alert): ReadyAlert => {
    const content = { ...alert, kind: 'firing' as const, at: moment.now }
    return { entries: [{ id: 0, claimed: false, content }], merged: { notification: content, flaps: 0 } }
  })
  const group = { labels: incident?.labels ?? {}, route: undefined }
  return { ...messageOf({ group, alerts, incident, told }, moment), isEdit: true }
}
