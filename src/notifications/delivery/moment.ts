import { nameOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import type { Episode } from '../../alerts/episode.ts'
import { incidentsOf, type Incident } from '../../alerts/incidents.ts'
import type { Silence } from '../../alerts/match.ts'
import type { Severity } from '../../alerts/match-keys.ts'
import { parse } from '../../store/sql.ts'
import type { OutboxEntry, Store, ToldGroup } from '../../store/store.ts'
import type { DeliverOptions } from './deliver.ts'
import { alertNameOf, liveNameOf, waitingAlerts, withWaiting, unknownTimes } from './waiting-alert.ts'
import { inhibition, suppressingAt, type Inhibited, type Inhibitors } from './suppress.ts'
import type { Suppressed } from './send-message.ts'
import type { Age } from './wait.ts'

/** A moment as it is read; the rest follows from it. */
export type Read = Pick<DeliverOptions, 'mutes' | 'publicUrl'> & {
  /** The host's clock (UNIX seconds). */
  now: number
  /** The silences that have not expired, and those that expired not long ago, the latest first. */
  silences: readonly Silence[]
  expired: readonly Silence[]
  /** The alerts of all targets as they are now, and how many targets there are. */
  alerts: readonly LiveAlert[]
  targets: number
  incidents: () => readonly Incident[]
  /** What the receiver was told of each group. */
  told: ReadonlyMap<string, ToldGroup>
  /** The alerts with changes that wait for the receiver: JSON of target and key. */
  waiting: ReadonlySet<string>
  /** How long ago a change was put into the outbox, by the id of the entry, and something was told. */
  age: Age
  toldAge: Age
  /** The silences and the alerts that may have suppressed alerts that flapped. */
  past: () => Promise<Past>
}

/** What all steps of one round share. */
export type Moment = ReturnType<typeof momentOf>

/** The past that may explain an alert (seconds): the longest window of failed requests. */
const PAST_SECONDS = 1800

/** Reads the moment of a receiver's entries. */
export async function readMoment(
  entries: readonly OutboxEntry[],
  ofReceiver: Pick<Read, 'told' | 'age' | 'toldAge'>,
  { store, clock, groupOf, mutes, inhibit, isNotified, publicUrl, ...options }: DeliverOptions,
): Promise<Moment> {
  const [now, targets] = [clock.wall(), options.targets()]
  const alerts = withWaiting(options.alerts(), entries)
  const silences = await store.silences(now - PAST_SECONDS)
  const read: Read = {
    ...ofReceiver,
    now,
    alerts,
    targets,
    mutes,
    publicUrl,
    silences: silences.filter(({ until }) => until > now),
    expired: silences.filter(({ until }) => until <= now).toSorted((a, b) => b.until - a.until),
    waiting: new Set(entries.map(({ content }) => alertNameOf(content))),
    incidents: () => incidentsOf(alerts, groupOf, targets, options.freshFrom?.()),
    past: () => {
      const unknown = waitingAlerts(entries).flatMap(unknownTimes)
      const since = unknown.reduce((at, { from }) => Math.min(at, from), now - PAST_SECONDS)
      return pastSince(store, since)
    },
  }
  return momentOf(read, inhibition(inhibit, isNotified))
}

/** @param inhibitorsAmong of the receiver */
export function momentOf({ incidents, ...read }: Read, inhibitorsAmong: Inhibitors) {
  const incidentsNow = once(() => new Map(incidents().map((incident) => [incident.key, incident])))
  const lives = once(() => new Map(read.alerts.map((live) => [liveNameOf(live), live])))
  return {
    ...read,
    ...suppressingAt(read, inhibitorsAmong),
    /** All that fires in a group. */
    incident: (group: string) => incidentsNow().get(group),
    /** An alert as it is now, also a pending one; undefined if there is none. */
    live: (alert: Pick<Alert, 'target' | 'key'>) => lives().get(nameOf(alert)),
    /** It reads once, however many batches call it. */
    past: once(async () => {
      const { silences, fired } = await read.past()
      return { silences, fired, inhibitorsOf: inhibitorsAmong(fired) }
    }),
    /**
     * What the steps found and is not written yet: alerts that something suppresses, and entries to remove without a message.
     * Both are changed in place.
     */
    suppressed: new Array<Suppressed>(),
    discarded: new Array<OutboxEntry>(),
  }
}

function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined
  return () => (known ??= { value: compute() }).value
}

/** What may have suppressed alerts since a time, including what still does; limited by what the store keeps. */
export type Past = { silences: readonly Silence[]; fired: readonly Inhibited[] }

/** Reads what may have suppressed alerts since a time (UNIX seconds by the host's clock). */
export async function pastSince(store: Pick<Store, 'silences' | 'rows'>, from: number): Promise<Past> {
  const rows = await store.rows(
    `SELECT target, alert, since, until, rule, severity, data FROM callwatch.alert_episodes
    WHERE until IS NULL OR until > $1`,
    [from],
  )
  const fired = rows.map((row) => ({
    ...parse<Episode>(row['data']),
    target: String(row['target']),
    key: String(row['alert']),
    alert: String(row['rule']),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was written from a notification
    severity: row['severity'] as Severity,
    firingSince: Number(row['since']),
    until: Number(row['until'] ?? Infinity),
  }))
  return { silences: await store.silences(from), fired }
}
