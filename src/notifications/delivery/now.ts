import { setImmediate } from 'node:timers/promises'
import { nameOf, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import { onceEach } from '../../alerts/once-each.ts'
import {
  incidentAlone,
  statedOf,
  type IncidentId,
  type Among,
  type Incident,
  type Stated,
} from '../../alerts/incidents.ts'
import { endOf, type EpisodeRow } from '../../alerts/episode.ts'
import type { Silence } from '../../alerts/match.ts'
import type { Notification } from '../../alerts/notification.ts'
import type { Clock } from '../../clock/clock.ts'
import { oneByOne } from '../../clock/one-by-one.ts'
import type { Store } from '../../store/store.ts'
import type { GroupOf } from '../grouping.ts'
import { isMuted, placed, type Mute } from './suppress.ts'

/** An alert as it is, and the names of it and of its episode. */
export type Live = Pick<Stated, 'target' | 'severity'> & {
  alert: Stated
  instance: AlertInstance
  name: string
  episode: string
}
/** What fires in a group, and what is pending. */
type LiveGroup = { firing: Live[]; pending: Live[] }
/** An alert that has ended. */
export type Ended = { change: Notification; name: string; episode: string }

/** What all receivers are compared with. Times are UNIX seconds by the host's clock. */
export type Now = {
  at: number
  firing: readonly Live[]
  pending: readonly Live[]
  /** By the names of their episodes: those that have ended not long ago, or since the cursor of a receiver. */
  ended: ReadonlyMap<string, Ended>
  /** The ends of an alert, the oldest first, and the alert if it fires, by its name. */
  endsOf: (name: string) => readonly Ended[]
  live: (name: string) => Live | undefined
  /** All that is live by the keys of its groups, also what is suppressed. */
  groups: (groupOf: GroupOf) => ReadonlyMap<string, LiveGroup>
  /** All that fires in a group, also what is suppressed; undefined if nothing does. @param of how many targets there are @param freshFrom what was evaluated before (UNIX seconds) is old */
  incident: (
    group: IncidentId,
    groupOf: GroupOf,
    among: Pick<Among, 'of' | 'freshFrom' | 'fleet'>,
  ) => Incident | undefined
  /** What follows from this moment, computed once for all receivers. */
  shared: <Value>(of: object, compute: () => Value) => Value
  /** Those that are active, and those that expired in the last half hour. */
  silences: readonly Silence[]
  /** Changes if an alert begins, ends or becomes quiet, or a silence changes. */
  version: number
  /** Where many alerts are live, waits for an iteration of the event loop in which nothing else is done for a receiver. */
  turn: () => Promise<void>
}

/** What suppressed an alert may have ended for so long (seconds): the longest window of failed requests. */
const PAST_SECONDS = 1800
/** Ends become visible late, and the clocks of hosts differ, by this at most (seconds). */
export const LATE_SECONDS = 60
/** What was read is used for so long (seconds): by the receivers that are looked at in the same second. */
const FRESH_SECONDS = 0.5
/** From so many alerts on, the work for receivers is spread over iterations of the event loop, each of which takes so many of them. */
const MANY_ALERTS = 1000
export const ALERTS_A_TURN = 250

/** Names one time that an alert fired. */
export const episodeOf = ({ target, key, firingSince }: Pick<Alert, 'target' | 'key' | 'firingSince'>) =>
  JSON.stringify([target, key, firingSince])

export type NowOptions = {
  clock: Clock
  store: Pick<Store, 'rows' | 'silences'>
  alerts: () => readonly LiveAlert[]
  mutes: readonly Mute[]
  /** Called with each new alert, some at a time. */
  prepare?: (alert: Stated) => void
}

/** Reads what is, once a second for all receivers. @returns a reader; `since`: from when on ends are needed */
export function nowReader({ clock, store, alerts, mutes, prepare = () => undefined }: NowOptions) {
  const inTurn = oneByOne()
  const nextTurn = () => inTurn(() => setImmediate())
  const liveOf = cachedLive((alert) => {
    placed(alert)
    prepare(alert)
  })
  const ends = endsReader(store)
  let known = { signature: '', lives: new Map<string, Live>() }
  let version = 0
  let last: { at: number; since: number; now: Promise<Now> } | undefined

  async function read(since: number): Promise<Now> {
    const at = clock.wall()
    // Before the ends: what ends meanwhile is in both, and has ended.
    const given = alerts()
    const turn = given.length > MANY_ALERTS ? nextTurn : async () => undefined
    const lives: Live[] = []
    for (const live of given) {
      lives.push(liveOf(live))
      if (lives.length % ALERTS_A_TURN === 0) await turn()
    }
    const silences = await store.silences(at - PAST_SECONDS)
    const ended = await ends(Math.min(since, at - PAST_SECONDS), at)
    const firing = lives.filter(({ instance, episode }) => instance.state !== 'pending' && !ended.has(episode))
    const pending = lives.filter(({ instance }) => instance.state === 'pending')
    const active = [silences.filter(({ until }) => until > at), mutes.map((mute) => isMuted(mute, at))]
    const signature = JSON.stringify([active, pending.length, ended.size, firing.length])
    const isSame = signature === known.signature && lives.every((live) => isAsBefore(live, known.lives.get(live.name)))
    if (!isSame) {
      version += 1
      known = { signature, lives: new Map(lives.map((live) => [live.name, live])) }
    }
    return { at, firing, pending, ended, silences, version, turn, ...derivedFrom(firing, pending, ended) }
  }

  return (since: number): Promise<Now> => {
    const { monotonic } = clock
    if (last === undefined || monotonic() - last.at >= FRESH_SECONDS || since < last.since)
      last = { at: monotonic(), since, now: read(since) }
    return last.now
  }
}

/** Reads the alerts that have ended since a time: at first all of them, then those that were not known yet (UNIX seconds). */
function endsReader(store: Pick<Store, 'rows'>) {
  let ended = new Map<string, Ended>()
  let read = { since: Infinity, until: -Infinity }
  return async (since: number, now: number): Promise<ReadonlyMap<string, Ended>> => {
    const begin = since < read.since ? since : Math.max(since, Math.min(read.until, now) - LATE_SECONDS)
    const keys = 'SELECT target, alert, since, until FROM callwatch.alert_episodes WHERE until > $1'
    const unknown = (await store.rows(keys, [begin])).filter(
      ({ target, alert, since: firingSince }) => !ended.has(JSON.stringify([target, alert, Number(firingSince)])),
    )
    // What was read before is in use.
    ended = new Map([...ended].filter(([, { change }]) => change.at > since))
    const oldest = unknown.reduce((least, { until }) => Math.min(least, Number(until)), Infinity)
    const query = `SELECT target, alert AS key, since, until, rule, severity, data
      FROM callwatch.alert_episodes WHERE until >= $1`
    for (const row of unknown.length === 0 ? [] : await store.rows(query, [oldest])) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the query
      const change = endOf(row as EpisodeRow)
      if (change.at > since) ended.set(episodeOf(change), { change, name: nameOf(change), episode: episodeOf(change) })
    }
    read = { since, until: now }
    return ended
  }
}

/** What follows from all alerts, computed when it is asked for. */
function derivedFrom(firing: readonly Live[], pending: readonly Live[], ended: ReadonlyMap<string, Ended>) {
  const oldestFirst = () => [...ended.values()].toSorted((a, b) => a.change.at - b.change.at)
  const endsByName = once(() => Map.groupBy(oldestFirst(), ({ name }) => name))
  const firingByName = once(() => new Map(firing.map((live) => [live.name, live])))
  const groups = groupsAmong(firing, pending)
  return {
    endsOf: (name: string) => endsByName().get(name) ?? [],
    live: (name: string) => firingByName().get(name),
    groups,
    incident: incidentsAmong(firing, pending, groups),
    shared: shared(),
  }
}

function groupsAmong(firing: readonly Live[], pending: readonly Live[]): Now['groups'] {
  const known = shared()
  return (groupOf) =>
    known(groupOf, () => {
      const groups = new Map<string, LiveGroup>()
      const of = ({ alert }: Live) => {
        const { key } = groupOf(alert)
        const group = groups.get(key) ?? { firing: [], pending: [] }
        groups.set(key, group)
        return group
      }
      for (const live of firing) of(live).firing.push(live)
      for (const live of pending) of(live).pending.push(live)
      return groups
    })
}

/** The incidents of groups, each computed once. */
function incidentsAmong(firing: readonly Live[], pending: readonly Live[], groups: Now['groups']): Now['incident'] {
  const onTarget = once(() =>
    Map.groupBy(
      firing.map(({ alert }) => alert),
      ({ target }) => target,
    ),
  )
  const latest = once(() =>
    [...firing, ...pending].reduce((most, { alert }) => Math.max(most, alert.evaluatedAt), -Infinity),
  )
  const known = shared()
  return (group, groupOf, { of, freshFrom, fleet }) => {
    const incidents = known(groupOf, () => new Map<string, Incident | undefined>())
    if (!incidents.has(group.key)) {
      const at = Math.max(latest(), freshFrom)
      const live = groups(groupOf).get(group.key)
      const own = [...(live?.firing ?? []), ...(live?.pending ?? [])].map(({ alert }) => alert)
      incidents.set(group.key, incidentAlone(group, own, { onTarget: onTarget(), of, at, freshFrom, fleet }))
    }
    return incidents.get(group.key)
  }
}

function shared(): Now['shared'] {
  const known = new WeakMap<object, { value: unknown }>()
  return <Value>(of: object, compute: () => Value) => {
    const before = known.get(of) ?? { value: compute() }
    known.set(of, before)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was computed for the same
    return before.value as Value
  }
}

/** Computes a value when it is first asked for. */
export function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined
  return () => (known ??= { value: compute() }).value
}

/** Whether nothing changed of an alert that may make a message due. */
function isAsBefore({ instance: one, episode }: Live, before: Live | undefined): boolean {
  if (before?.instance === one) return true
  const isQuiet = (of: AlertInstance) => of.evidence?.isQuiet === true
  return (
    before?.episode === episode &&
    (before.instance.state === 'pending') === (one.state === 'pending') &&
    before.instance.rule.severity === one.rule.severity &&
    isQuiet(before.instance) === isQuiet(one)
  )
}

/** Instances are replaced if they change, so that what follows from one is computed once. @param prepare called with each new one */
function cachedLive(prepare: (alert: Stated) => void): (live: LiveAlert) => Live {
  const known = onceEach((_alert: Stated): { live?: Live } => ({}))
  return (given) => {
    const alert = statedOf(given)
    const before = known(alert)
    if (before.live !== undefined) return before.live
    const { target, severity } = alert
    prepare(alert)
    const { instance } = given
    return (before.live = { target, severity, alert, instance, name: nameOf(alert), episode: episodeOf(alert) })
  }
}
