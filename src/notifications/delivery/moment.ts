import type { LiveAlert } from '../../alerts/alert.ts'
import { incidentsOf, type Incident } from '../../alerts/incidents.ts'
import type { Silence } from '../../alerts/match.ts'
import type { OutboxEntry, ToldGroup } from '../../store/store.ts'
import type { DeliverOptions } from './deliver-outbox.ts'
import { alertOf, waitingAlerts, withWaiting } from './group.ts'
import { inhibition, type Inhibited, type Inhibitors } from './inhibition.ts'
import { unknownTimes } from './merge-changes.ts'
import type { Suppressed } from './note.ts'
import { pastSince, type Past } from './past.ts'
import { activeAt, type Active, type Mute } from './suppress.ts'
import type { Age } from './wait.ts'

/** What all steps of one round share. */
export type Moment = {
  /** The host's clock (UNIX seconds). */
  now: number
  /** The silences that have not expired, the mutes, and all of them that are active. */
  silences: readonly Silence[]
  mutes: readonly Mute[]
  active: readonly Active[]
  /** The alerts of all targets as they are now. */
  alerts: readonly LiveAlert[]
  /** Those of them that inhibit an alert. */
  inhibitorsOf: (alert: Inhibited) => readonly Inhibited[]
  /** The targets whose calls cannot be polled. */
  unseen: ReadonlySet<string>
  /** How many targets there are. */
  targets: number
  /** The page's address for users, if known. */
  publicUrl?: string | undefined
  /** All that fires in a group. */
  incident: (group: string) => Incident | undefined
  /** What the receiver was told of each group. */
  told: ReadonlyMap<string, ToldGroup>
  /** The alerts with changes that wait for the receiver: JSON of target and key. */
  waiting: ReadonlySet<string>
  /** How long ago a change was put into the outbox, by the id of the entry, and something was told. */
  age: Age
  toldAge: Age
  /** Reads the silences and the alerts that may have suppressed alerts that flapped. It reads once, however many batches call it. */
  past: () => Promise<Past & Pick<Moment, 'inhibitorsOf'>>
  /**
   * What the steps found and is not written yet: alerts that something suppresses, and entries to remove without a message.
   * Both are changed in place.
   */
  suppressed: Suppressed[]
  discarded: OutboxEntry[]
}

/** A moment as it is read; the rest follows from it. */
export type Read = Omit<
  Moment,
  'active' | 'inhibitorsOf' | 'unseen' | 'incident' | 'past' | 'suppressed' | 'discarded'
> & {
  past: () => Promise<Past>
  incidents: () => readonly Incident[]
}

/** The past that may explain an alert (seconds): the longest window of failed requests. */
const PAST_SECONDS = 1800

/** Reads the moment of a receiver's entries. */
export async function readMoment(
  entries: readonly OutboxEntry[],
  given: Pick<Moment, 'told' | 'age' | 'toldAge'>,
  { store, clock, groupOf, mutes, inhibit, isNotified, publicUrl, ...options }: DeliverOptions,
): Promise<Moment> {
  const [now, targets] = [clock.wall(), options.targets()]
  const alerts = withWaiting(options.alerts(), entries)
  const unknown = () => waitingAlerts(entries).flatMap(unknownTimes)
  return momentOf(
    {
      ...given,
      now,
      alerts,
      targets,
      mutes,
      publicUrl,
      silences: await store.silences(now),
      waiting: new Set(entries.map(({ content }) => alertOf(content))),
      incidents: () => incidentsOf(alerts, groupOf, targets),
      past: () =>
        pastSince(
          store,
          unknown().reduce((at, { from }) => Math.min(at, from), now - PAST_SECONDS),
        ),
    },
    inhibition(inhibit, isNotified),
  )
}

/** @param inhibitorsAmong of the receiver */
export function momentOf({ incidents, ...read }: Read, inhibitorsAmong: Inhibitors): Moment {
  const unseen = read.alerts.filter(
    ({ instance: { rule, state } }) => rule.signal.name === 'poll_age' && state !== 'pending',
  )
  let past: ReturnType<Moment['past']> | undefined
  let byGroup: ReadonlyMap<string, Incident> | undefined
  return {
    ...read,
    active: activeAt(read.now, read.mutes, read.silences),
    incident: (group) => (byGroup ??= new Map(incidents().map((incident) => [incident.key, incident]))).get(group),
    suppressed: [],
    discarded: [],
    inhibitorsOf: inhibitorsAmong(read.alerts),
    unseen: new Set(unseen.map(({ target }) => target)),
    past: () =>
      (past ??= read.past().then(({ silences, fired }) => ({ silences, fired, inhibitorsOf: inhibitorsAmong(fired) }))),
  }
}
