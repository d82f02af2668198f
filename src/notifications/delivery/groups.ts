import type { Rule } from '../../alerts/rule.ts'
import type { Group, GroupOf, Routable } from '../grouping.ts'
import { claimsOf, type Fires, type Heard, type Situation } from './due.ts'
import type { Attempt, Entry, Known } from './notified.ts'
import type { Ended, Live, Now } from './now.ts'
import type { Suppressing } from './suppress.ts'

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
  const { now, suppressing, entries, attempts, groupOf, isSent, rules, monotonic, freeFor } = options
  const groups = new Map<string, Grouped>()
  const lives = new Map([...now.firing, ...now.pending].map((live) => [live.name, live]))
  const suppressed: { live: Live; by: ReturnType<Suppressing['at']> }[] = []
  const unrouted: Unrouted[] = []
  const isTold = new Set(entries.flatMap(({ ended, name }) => (ended === undefined ? name : [])))

  function of(alert: Routable): Grouped {
    const group = groupOf(alert)
    const known = groups.get(group.key) ?? emptyGroup(group, options)
    groups.set(group.key, known)
    return known
  }
  /** As it fires, as it ended, or as it was told where neither is known yet. */
  const subjectOf = (entry: Entry & { name: string; episode: string }): Routable => {
    const live = lives.get(entry.name)?.alert ?? now.ended.get(entry.episode)?.change
    if (live !== undefined) return live
    const rule = rules.get(entry.alert)
    const {
      match = {},
      signal = { name: 'poll_age' as const },
      breach = 'above',
      severity = entry.severity,
    } = rule ?? {}
    return { ...entry, match, signal, breach, severity }
  }
  const heardOf = (entry: Known): HeardAlert => {
    const { name, episode, target, severity, heardAt, endedAt } = entry
    const endAge = endedAt === undefined ? undefined : monotonic - endedAt
    return { name, episode, target, severity, age: monotonic - heardAt, endAge, entry }
  }

  /** What became of it is not known yet, as another daemon shows it, or it is no longer sent here: it may still fire. */
  const keep = ({ name, target, severity }: Known, { quiet }: Grouped): void => {
    const live = lives.get(name)
    const isShown = live !== undefined && live.instance.state !== 'pending' && isSent(live.alert)
    if (!isShown && quiet.every((one) => one.name !== name)) quiet.push({ name, target, severity })
  }

  for (const live of now.firing) {
    const { alert, name, instance } = live
    if (!isSent(alert)) continue
    const by = suppressing.at(alert, now.at)
    if (by.length > 0) suppressed.push({ live, by })
    const { target, severity } = alert
    const isQuiet = by.length > 0 || (instance.evidence?.isQuiet === true && !isTold.has(name))
    if (isQuiet) of(alert).quiet.push({ name, target, severity })
    else of(alert).firing.push({ ...live, target, severity, waited: freeFor(live) })
  }
  for (const entry of entries) {
    const live = lives.get(entry.name)
    const isOver = entry.ended !== undefined || now.ended.has(entry.episode)
    if (!isOver && live?.episode === entry.episode && live.instance.state !== 'pending' && !isSent(live.alert)) {
      unrouted.push({ live, entry })
      continue
    }
    const group = of(subjectOf(entry))
    group.heard.push(heardOf(entry))
    if (!isOver) keep(entry, group)
  }
  for (const attempt of attempts) {
    const told = (list: readonly Known[]) => Map.groupBy(list, (entry) => of(subjectOf(entry)))
    const [begun, ended] = [told(attempt.begun), told(attempt.ended)]
    for (const group of new Set([...begun.keys(), ...ended.keys()])) {
      const endings = (ended.get(group) ?? []).map(heardOf)
      const own = (begun.get(group) ?? []).map(heardOf)
      for (const { entry } of own) if (!now.ended.has(entry.episode)) keep(entry, group)
      group.unanswered.push({ attempt, begun: own, ended: endings.map(({ episode }) => episode), endings })
    }
  }
  for (const one of untoldOf(options)) of(one.change).untold.push(one)
  const pending = now.pending.filter(({ alert }) => alert.signal.name === 'poll_age')
  for (const { alert } of pending) {
    const group = groups.get(groupOf(alert).key)
    if (group !== undefined) group.isSpreading = true
  }
  for (const group of groups.values()) finish(group, options)
  return { groups, suppressed, unrouted }
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
    const { firingSince, at } = change
    if (at <= cursor || known.has(episode) || !isSent(change)) return false
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
