import type { Rule } from '../../alerts/rule.ts'
import type { Group, GroupOf, Routable } from '../grouping.ts'
import { claimsOf, type Fires, type Heard, type Situation } from './due.ts'
import type { Attempt, Known } from './notified.ts'
import type { Ended, Live, Now } from './now.ts'
import type { Suppressing } from './suppress.ts'
import type { Suppressed } from './suppression-notes.ts'

export type FiringAlert = Fires & Live
export type HeardAlert = Heard & { entry: Known }

/** A group of alerts for a receiver, with all that its message is made of. */
export type Grouped = Omit<Situation, 'firing' | 'quiet' | 'heard' | 'unanswered'> & {
  group: Group
  firing: FiringAlert[]
  quiet: Pick<Fires, 'name' | 'target' | 'severity'>[]
  heard: HeardAlert[]
  unanswered: { attempt: Attempt; begun: HeardAlert[]; ended: string[]; endings: HeardAlert[] }[]
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
 * All groups of a receiver, by the configuration of now: of what was told, too.
 *
 * @returns also what is suppressed, and what is sent to the receiver no longer
 */
export function groupsOf(options: GroupsOptions) {
  const { now, groupOf } = options
  const groups = new Map<string, Grouped>()
  const of = (alert: Routable): Grouped => {
    const group = groupOf(alert)
    const known = groups.get(group.key) ?? emptyGroup(group, options)
    groups.set(group.key, known)
    return known
  }
  const suppressed = addFiring(options, of)
  const unrouted = addEntries(options, of)
  for (const attempt of options.attempts) addAttempt(attempt, options, of)
  for (const one of untoldOf(options)) of(one.change).untold.push(one)
  for (const { alert } of now.pending) {
    const group = alert.signal.name === 'poll_age' ? groups.get(groupOf(alert).key) : undefined
    if (group !== undefined) group.isSpreading = true
  }
  for (const group of groups.values()) finish(group, options)
  return { groups, suppressed, unrouted }
}

type Of = (alert: Routable) => Grouped

/** Adds what fires. @returns what is suppressed */
function addFiring({ now, suppressing, entries, isSent, freeFor }: GroupsOptions, of: Of): Suppressed[] {
  const isTold = new Set(entries.flatMap(({ ended, name }) => (ended === undefined ? name : [])))
  return now.firing.flatMap((live) => {
    const { alert, name, instance } = live
    if (!isSent(alert)) return []
    const { target, severity } = alert
    const by = suppressing.at(alert, now.at)
    const isQuiet = by.length > 0 || (instance.evidence?.isQuiet === true && !isTold.has(name))
    if (isQuiet) of(alert).quiet.push({ name, target, severity })
    else of(alert).firing.push({ ...live, target, severity, waited: freeFor(live) })
    return by.length > 0 ? { live, by } : []
  })
}

/** Adds what was told. @returns what is sent to the receiver no longer */
function addEntries(options: GroupsOptions, of: Of): Unrouted[] {
  const { now, entries, isSent } = options
  return entries.flatMap((entry) => {
    const live = now.live(entry.name)
    const isOver = entry.ended !== undefined || now.ended.has(entry.episode)
    const isShown = live !== undefined && isSent(live.alert)
    if (!isOver && !isShown && live?.episode === entry.episode) return { live, entry }
    const group = of(factsOf(entry, options))
    group.heard.push(heardOf(entry, options))
    if (!isOver) keep(entry, group, options)
    return []
  })
}

/** What became of it is not known yet, as another daemon shows it, or it is no longer sent here: it may still fire. */
function keep({ name, target, severity }: Known, { quiet }: Grouped, { now, isSent }: GroupsOptions): void {
  const live = now.live(name)
  const isShown = live !== undefined && isSent(live.alert)
  if (!isShown && quiet.every((one) => one.name !== name)) quiet.push({ name, target, severity })
}

function addAttempt(attempt: Attempt, options: GroupsOptions, of: Of): void {
  const told = (list: readonly Known[]) => Map.groupBy(list, (entry) => of(factsOf(entry, options)))
  const [begun, ended] = [told(attempt.begun), told(attempt.ended)]
  for (const group of new Set([...begun.keys(), ...ended.keys()])) {
    const own = begun.get(group) ?? []
    for (const entry of own) if (!options.now.ended.has(entry.episode)) keep(entry, group, options)
    const [begins, ends] = [own, ended.get(group) ?? []].map((list) => list.map((entry) => heardOf(entry, options)))
    group.unanswered.push({ attempt, begun: begins!, ended: ends!.map(({ episode }) => episode), endings: ends! })
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

function heardOf(entry: Known, { monotonic }: GroupsOptions): HeardAlert {
  const { name, episode, target, severity, heardAt, endedAt } = entry
  const endAge = endedAt === undefined ? undefined : monotonic - endedAt
  return { name, episode, target, severity, age: monotonic - heardAt, endAge, entry }
}

function emptyGroup(group: Group, { targets }: GroupsOptions): Grouped {
  const { interval } = group
  const empty = { firing: [], quiet: [], heard: [], unanswered: [], untold: [], was: 0, isSpreading: false }
  return { group, ...empty, wait: 0, interval, repeat: Infinity, targets }
}

/** Adds what follows from the alerts of a group. */
function finish(grouped: Grouped, { waitOf }: GroupsOptions): void {
  const { group, firing, untold } = grouped
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

/** What of a message is news: what begins, by name, and what ends, each once. */
export function newsOf({ firing, quiet, heard, unanswered }: Grouped) {
  const open = heard.filter(({ endAge }) => endAge === undefined)
  const { claimed, mayHaveEnded } = claimsOf({ unanswered }, open)
  const told = new Map(open.map((one) => [one.name, one]))
  const live = new Set([...firing, ...quiet].map(({ name }) => name))
  return {
    begun: firing.filter(({ name, episode }) => {
      const before = told.get(name)
      return before === undefined || (mayHaveEnded.has(before.episode) && before.episode !== episode)
    }),
    ended: claimed.filter(({ name }) => !live.has(name)),
    open,
    /** What the receiver knows to fire, by name. */
    known: told,
  }
}
