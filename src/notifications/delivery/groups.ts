import { isMoreSevere } from '../../alerts/match-keys.ts'
import type { Rule } from '../../alerts/rule.ts'
import type { Group, GroupOf, Routable } from '../grouping.ts'
import { claimsOf, type Situation } from './due.ts'
import type { Attempt, Known } from './notified.ts'
import { ALERTS_A_TURN, LATE_SECONDS, once, type Ended, type Live, type Now } from './now.ts'
import type { Suppressing } from './suppress.ts'
import type { Suppressed } from './suppression-notes.ts'

/** A group of alerts for a receiver, with all that its message is made of. */
export type Grouped = Omit<Situation, 'firing' | 'quiet' | 'heard' | 'unanswered'> & {
  group: Group
  firing: Live[]
  quiet: Situation['quiet'][number][]
  heard: Known[]
  unanswered: Attempt[]
  untold: Ended[]
}

export type GroupsOptions = {
  now: Now
  suppressing: Suppressing
  /** What the receiver was told. */
  entries: readonly Known[]
  attempts: readonly Attempt[]
  /** Ends until then (UNIX seconds) need no word. */
  cursor: number
  groupOf: GroupOf
  isSent: (alert: Routable) => boolean
  rules: ReadonlyMap<string, Rule>
  targets: number
  /** For how long nothing has suppressed an alert (seconds). */
  freeFor: (live: Live) => number
  /** How long it takes to poll each target of a group (seconds). */
  waitOf: (alerts: readonly Live[]) => number
  monotonic: number
}

/** An alert that was told and still fires, but is not sent to the receiver any more. */
export type Unrouted = { live: Live; entry: Known }

/**
 * All groups of a receiver, by the configuration of now: of what was told, too. Thousands of alerts take several iterations of the event
 * loop.
 *
 * @returns also what is suppressed, and what is sent to the receiver no longer
 */
export async function groupsOf(options: GroupsOptions) {
  const { now, groupOf } = options
  const groups = new Map<string, Grouped>()
  const of = (alert: Routable): Grouped => {
    const group = groupOf(alert)
    const known = groups.get(group.key) ?? emptyGroup(group, options)
    groups.set(group.key, known)
    return known
  }
  const suppressed = [...(await addFiring(options, of)), ...endedSuppressed(options)]
  await now.turn()
  const unrouted = addEntries(options, of)
  await now.turn()
  for (const attempt of options.attempts) addAttempt(attempt, options, of)
  for (const one of untoldOf(options)) of(one.change).untold.push(one)
  const live = now.groups(groupOf)
  for (const [key, group] of groups) {
    group.isSpreading = live.get(key)?.pending.some(({ alert }) => alert.signal.name === 'poll_age') ?? false
    finish(group, options)
  }
  return { groups, suppressed, unrouted }
}

type Of = (alert: Routable) => Grouped

/** Adds what fires. All of a group has one route. @returns what is suppressed */
async function addFiring({ now, suppressing, entries, isSent, groupOf }: GroupsOptions, of: Of): Promise<Suppressed[]> {
  const told = once(() => new Set(entries.flatMap(({ ended, name }) => (ended === undefined ? name : []))))
  const suppressed: Suppressed[] = []
  let added = 0
  for (const { firing } of now.groups(groupOf).values()) {
    const [first] = firing
    if (first === undefined || !isSent(first.alert)) continue
    const grouped = of(first.alert)
    for (const live of firing) {
      if ((added += 1) % ALERTS_A_TURN === 0) await now.turn()
      const by = suppressing.at(live.alert, now.at)
      const isQuiet = by.length > 0 || (live.instance.evidence?.isQuiet === true && !told().has(live.name))
      if (isQuiet) grouped.quiet.push(live)
      else grouped.firing.push(live)
      if (by.length > 0) suppressed.push({ alert: live.alert, episode: live.episode, by })
    }
  }
  return suppressed
}

/** What was suppressed when it fired, and has ended since: perhaps between two looks. */
function endedSuppressed({ now, suppressing, isSent }: GroupsOptions): Suppressed[] {
  const suppressed: Suppressed[] = []
  for (const { change: alert, episode } of now.ended.values()) {
    if (alert.at <= now.at - LATE_SECONDS || !isSent(alert)) continue
    const by = suppressing.at(alert, alert.firingSince)
    if (by.length > 0) suppressed.push({ alert, episode, by })
  }
  return suppressed
}

/** Adds what was told. @returns what is sent to the receiver no longer */
function addEntries(options: GroupsOptions, of: Of): Unrouted[] {
  const { now, entries, isSent } = options
  const unrouted: Unrouted[] = []
  for (const entry of entries) {
    const live = now.live(entry.name)
    const isOver = entry.ended !== undefined || now.ended.has(entry.episode)
    const isShown = live !== undefined && isSent(live.alert)
    if (!isOver && !isShown && live?.episode === entry.episode) {
      unrouted.push({ live, entry })
      continue
    }
    const group = of(factsOf(entry, options))
    group.heard.push(entry)
    if (!isOver) keep(entry, group, options)
  }
  return unrouted
}

/** What became of it is not known yet, as another daemon shows it, or it is no longer sent here: it may still fire. */
function keep(entry: Known, { quiet }: Grouped, { now, isSent }: GroupsOptions): void {
  const live = now.live(entry.name)
  const isShown = live !== undefined && isSent(live.alert)
  if (!isShown && quiet.every(({ name }) => name !== entry.name)) quiet.push(entry)
}

function addAttempt(attempt: Attempt, options: GroupsOptions, of: Of): void {
  const byGroup = (list: readonly Known[]) => Map.groupBy(list, (entry) => of(factsOf(entry, options)))
  const [begun, ended] = [byGroup(attempt.begun), byGroup(attempt.ended)]
  for (const group of new Set([...begun.keys(), ...ended.keys()])) {
    const own = begun.get(group) ?? []
    for (const entry of own) if (!options.now.ended.has(entry.episode)) keep(entry, group, options)
    group.unanswered.push({ ...attempt, begun: own, ended: ended.get(group) ?? [] })
  }
}

/** What groups an alert that was told: as it fires, as it ended, or as it was told where neither is known yet. */
function factsOf(entry: Known, { now, rules }: GroupsOptions): Routable {
  const known = now.live(entry.name)?.alert ?? now.ended.get(entry.episode)?.change
  if (known !== undefined) return known
  const unknown = { match: {}, signal: { name: 'poll_age' }, breach: 'above', severity: entry.severity } as const
  const { match, signal, breach, severity } = rules.get(entry.alert) ?? unknown
  return { ...entry, match, signal, breach, severity }
}

function emptyGroup(group: Group, { targets, monotonic: now }: GroupsOptions): Grouped {
  const { interval } = group
  const empty = { firing: [], quiet: [], heard: [], unanswered: [], untold: [], was: 0, isSpreading: false }
  return { group, ...empty, waited: 0, now, wait: 0, interval, repeat: Infinity, targets }
}

/** Adds what follows from the alerts of a group. */
function finish(grouped: Grouped, { waitOf, freeFor }: GroupsOptions): void {
  const { group, firing, heard, untold } = grouped
  const isNotified = heard.some(({ endedAt }) => endedAt === undefined)
  if (!isNotified) grouped.waited = firing.reduce((longest, live) => Math.max(longest, freeFor(live)), 0)
  grouped.wait = group.wait ?? waitOf(firing)
  grouped.repeat = firing.reduce(
    (least, { alert: { repeat } }) => (repeat > 0 ? Math.min(least, repeat) : least),
    Infinity,
  )
  grouped.was = untold.length
}

/** The episodes that ended untold and had waited: nobody has heard of them. */
export function untoldOf({
  now,
  suppressing,
  entries,
  attempts,
  cursor,
  groupOf,
  isSent,
  waitOf,
}: GroupsOptions): Ended[] {
  const known = new Set([...entries, ...attempts.flatMap(({ begun }) => begun)].map(({ episode }) => episode))
  return [...now.ended.values()].filter(({ change, episode }) => {
    const { firingSince, at, signal } = change
    // Failed requests that nobody was told of were those of an outage that was over, or are no news any more.
    if (at <= cursor || known.has(episode) || !isSent(change) || signal.name === 'request_errors') return false
    const { wait = waitOf([]) } = groupOf(change)
    return suppressing.freeSeconds(change, firingSince, at) > wait
  })
}

/** What of a message is news: what begins or is more severe, by name, and what ends, each once. */
export function newsOf({ firing, quiet, heard, unanswered }: Grouped) {
  const open = heard.filter(({ endedAt }) => endedAt === undefined)
  const { claimed, mayHaveEnded } = claimsOf({ unanswered }, open)
  const told = new Map(open.map((one) => [one.name, one]))
  const live = new Set([...firing, ...quiet].map(({ name }) => name))
  return {
    begun: firing.filter((one) => {
      const before = told.get(one.name)
      if (before === undefined || isMoreSevere(one, before)) return true
      return mayHaveEnded.has(before.episode) && before.episode !== one.episode
    }),
    ended: claimed.filter(({ name }) => !live.has(name)),
    open,
    /** What the receiver knows to fire, by name. */
    known: told,
  }
}
