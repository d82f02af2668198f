import { FINAL_STATUSES } from '../ledger/call.ts'
import { FAILURES } from '../ledger/failure-ratio.ts'
import { countByStatus, type FinishedCounts } from '../ledger/finished-calls.ts'
import {
  alertOf,
  CAUSES,
  isCause,
  nameOf,
  placeOf,
  subjectOf,
  withHeld,
  type Alert,
  type Held,
  type LiveAlert,
} from './alert.ts'
import { sharedBy, type FleetTarget, type Shared } from './fleet.ts'
import { onceEach } from './once-each.ts'
import { bySeverity, isMoreSevere, type AlertMatch, type Severity } from './match-keys.ts'
import { failuresOf } from './notification.ts'
import { isBeyond, sum, type Contributor } from './signal.ts'

/** Which alerts are one incident: those that are notified together. */
export type IncidentId = {
  /** Identifies the incident. */
  key: string
  /** The values that its alerts have in common. */
  labels: AlertMatch
}

type CauseSignal = (typeof CAUSES)[number]
/** Targets that break so soon after each other (seconds) break together. */
export const TOGETHER_SECONDS = 60
/** Which outcome most failed calls have is said from this share on: of two that are as frequent, one would be said by chance. */
const MOST = 2 / 3
/** A cause may be seen later than what it causes, by this much (seconds). */
const CAUSE_DELAY_SECONDS = 300
/** `shop-2` comes before `shop-10`. */
export const byName = new Intl.Collator('en', { numeric: true })

/** What fires on several targets, or on one, for the same reason. Times are UNIX seconds. */
export type Incident = IncidentId & {
  /** The time that this is about: when the latest alert of all was evaluated, or since when an evaluation is not old. */
  at: number
  /** The highest of what is beyond its threshold now, or the lowest of its subject if nothing is. */
  severity: Severity
  /**
   * The beginning: when the breaches of most of its alerts began. Of missing polls, when the last successful one was.
   */
  since: number
  /** On how many of the targets alerts fire now, on how many of these all values are back within their threshold, and on how many others alerts are pending only. */
  targets: { firing: number; recovering: number; pending: number; of: number }
  /** On how many targets it fired when a receiver was told of it; only in a message that follows another one. */
  told?: number
  /** The receivers that know of it, and when each got its latest message; not in a message. */
  messages?: readonly { receiver: string; at: number }[]
  /** On how many targets values are held over from before, since when none of these has another one, and why. */
  held: readonly (Held & { targets: number })[]
  /** All that fires. */
  firing: readonly Alert[]
  /** The alerts of the most severe rule's subject, one for each target and label: those with most failures come first. */
  alerts: readonly Alert[]
  /** Those of them whose value is of now or, where none is, all of them. */
  measured: readonly Alert[]
  /** Those of these whose value is beyond the threshold. */
  worst: readonly Alert[]
  /**
   * The calls of `measured`, if the subject is a share of calls that failed, and none was measured at another time. `asOf`: when that was,
   * if it is not now.
   */
  calls?: {
    asOf?: number
    counts: FinishedCounts
    total: number
    failed: number
    outcome?: (typeof FAILURES)[number]
  }
  /** What the targets of `alerts` have in common, and others have not. */
  shared?: Shared | undefined
  /** The label value that explains most failures on more than half of the targets. */
  contributor?: Pick<Contributor, 'label' | 'value'> | undefined
  /** What explains it, on how many of its targets, and the most frequent reason. */
  causes: readonly { signal: CauseSignal; targets: number; cause?: string }[]
  /** The names of other alerts that fire on its targets, each with the number of its targets. */
  others: readonly { alert: string; targets: number }[]
}

/**
 * The incidents of all firing alerts: the most severe first; of these, those that explain others, then the largest, and last those of which
 * nothing is beyond its threshold. Pure.
 *
 * @param lives the alerts of all targets
 * @param of how many targets there are
 * @param freshFrom what was evaluated before (UNIX seconds) is old
 * @param fleet all targets
 */
export function incidentsOf(
  lives: readonly LiveAlert[],
  groupOf: (alert: Alert) => IncidentId,
  of: number,
  freshFrom = -Infinity,
  fleet: readonly FleetTarget[] = [],
): Incident[] {
  const all = lives.map(statedOf)
  const firing = all.filter(isFiring)
  const onTarget = Map.groupBy(firing, ({ target }) => target)
  const at = all.reduce((latest, { evaluatedAt }) => Math.max(latest, evaluatedAt), freshFrom)
  const groups = Map.groupBy(all, (alert) => groupOf(alert).key)
  const incidents = [...groups.values()].flatMap(
    (alerts) => incidentAlone(groupOf(alerts[0]!), alerts, { onTarget, of, at, freshFrom, fleet }) ?? [],
  )
  const explaining = new Set(incidents.filter((one) => incidents.some((other) => explains(one, other))))
  const placeOf = (incident: Incident) => (explaining.has(incident) ? 0 : incident.worst.length === 0 ? 2 : 1)
  return incidents.toSorted(
    (a, b) => bySeverity(a, b) || placeOf(a) - placeOf(b) || b.targets.firing - a.targets.firing,
  )
}

/** The incident of the alerts of a group; undefined if nothing of it fires. */
export function incidentAlone(group: IncidentId, alerts: readonly Stated[], among: Among): Incident | undefined {
  return alerts.some(isFiring) ? incidentOf(group, alerts, among) : undefined
}

/** Whether an incident is the cause of another one, or the reason why its numbers are old. An outage comes first by its severity. */
function explains({ alerts: [first] }: Incident, { causes, held, alerts: [other] }: Incident): boolean {
  const { name } = first!.signal
  if (!isCause(first!) || isCause(other!)) return false
  return (
    causes.some(({ signal }) => signal === name) || (name === 'poll_age' && held.some((one) => one.for === 'polls'))
  )
}

/** An alert, and how it is. */
export type Stated = Alert & Pick<LiveAlert['instance'], 'state' | 'evaluatedAt'>

const stated = onceEach((_instance: LiveAlert['instance']): { alert?: Stated } => ({}))
/** The same object until the instance changes, which is another one then: what follows from thousands of alerts is not computed anew each second. */
export function statedOf(live: LiveAlert): Stated {
  const { target, instance } = live
  const known = stated(instance)
  if (known.alert?.target === target) return known.alert
  const { state, evaluatedAt } = instance
  return (known.alert = { ...alertOf(live), state, evaluatedAt })
}

export const isFiring = ({ state }: Stated) => state !== 'pending'
export const targetsOf = (alerts: readonly Alert[]) => new Set(alerts.map(({ target }) => target))

/** What fires by target, of how many targets there are, the time that this is about, and before which an evaluation is old (UNIX seconds). */
export type Among = {
  onTarget: ReadonlyMap<string, readonly Stated[]>
  of: number
  at: number
  freshFrom: number
  fleet: readonly FleetTarget[]
}

/** What is said of a single alert, as of an incident of it alone. */
export function ofOne(alert: Alert): Said {
  const { since, lastPoll = since, value, threshold } = alert
  const worst = isBeyond(alert, value, threshold) ? [alert] : []
  const all = { alerts: [alert], measured: [alert], worst, targets: { of: 1 } }
  return { ...all, at: since, since: Math.min(since, lastPoll), ...(isShareOfCalls(alert) && callsOf([alert])) }
}

const isShareOfCalls = (alert: Alert) => failuresOf(alert) !== undefined && alert.compared === undefined

/** What the sentence about an incident is made of. */
export type Said = Pick<Incident, 'alerts' | 'measured' | 'worst' | 'calls' | 'shared' | 'at' | 'since'> & {
  targets: Pick<Incident['targets'], 'of'>
}

function incidentOf(
  { key, labels }: IncidentId,
  all: readonly Stated[],
  { onTarget, of, at, freshFrom, fleet }: Among,
): Incident {
  const group = all.map((one) => withHeld(one, one.evaluatedAt, freshFrom))
  const firing = group.filter(isFiring)
  const targets = targetsOf(firing)
  const urgent = firing.toSorted(byUrgency)
  const alerts = mostFailuresFirst(ofOneSubject(urgent))
  const [first] = alerts
  const known = alerts.filter(({ held }) => held === undefined)
  const measured = known.length > 0 ? known : alerts
  const elsewhere = [...targets].flatMap((target) => onTarget.get(target) ?? [])
  const pending = targetsOf(group).size - targets.size
  const recovering = targets.size - targetsOf(firing.filter((alert) => !isBack(alert))).size
  const begun = beginningOf(alerts.map(({ since }) => since))
  const early = elsewhere.filter(({ since }) => since <= begun + CAUSE_DELAY_SECONDS)
  return {
    key,
    labels,
    at,
    severity: severityOf(urgent),
    since: beginningOf(alerts.map(({ since, lastPoll = since }) => Math.min(since, lastPoll))),
    targets: { firing: targets.size, recovering, pending, of },
    held: heldAmong(firing),
    firing,
    alerts,
    measured,
    worst: measured.filter((alert) => alert.state === 'firing' && isBeyond(alert, alert.value, alert.threshold)),
    ...(isShareOfCalls(first!) && callsOf(measured)),
    shared: sharedBy(targetsOf(alerts), fleet),
    contributor: contributorOf(known),
    causes: causesOf(first!).flatMap((signal) => causeOf(signal, early)),
    others: othersOf(elsewhere, alerts),
  }
}

/** Whether its value is known, and no longer beyond the threshold. */
const isBack = (alert: Stated) =>
  alert.state === 'recovering' || (Number.isFinite(alert.value) && !isBeyond(alert, alert.value, alert.threshold))

/** That of what is beyond its threshold, or the lowest on the same subject: what recovers is no more severe than it was before. */
function severityOf([first, ...others]: readonly Stated[]): Severity {
  const same = others.filter((one) => isBack(first!) && ruleSubjectOf(one) === ruleSubjectOf(first!))
  return (same.at(-1) ?? first!).severity
}

/** What is beyond its threshold first, the most severe of that first. */
const byUrgency = (a: Stated, b: Stated) => Number(isBack(a)) - Number(isBack(b)) || bySeverity(a, b)

/** What the rule of an alert measures, for all of its groups. */
export const ruleSubjectOf = onceEach(({ by, signal, match, breach }: Alert) =>
  subjectOf({ signal, match, breach, labels: Object.fromEntries(by.map((label) => [label, '*'])) }),
)

/** The alerts of the most urgent and most frequent subject. Of several rules on one subject, the most urgent alert counts. */
function ofOneSubject(urgent: readonly Stated[]): Stated[] {
  const subjects = Map.groupBy(urgent, ruleSubjectOf)
  const [most = []] = [...subjects.values()].toSorted(
    ([a, ...more], [b, ...others]) => byUrgency(a!, b!) || others.length - more.length,
  )
  const each = Map.groupBy(most, placeOf)
  return [...each.values()].map((same) => ({ ...same[0]!, since: Math.min(...same.map(({ since }) => since)) }))
}

/** By failed calls or, of what has none, by value; equal ones by their oldest call, and by name, so that everything names the same one. */
export function mostFailuresFirst<One extends Alert>(alerts: readonly One[]): One[] {
  const failed = (alert: Alert) => failuresOf(alert) ?? 0
  const began = ({ oldest }: Alert) => oldest?.began ?? 0
  const byOldest = (a: Alert, b: Alert) => began(a) - began(b) || byName.compare(nameOf(a), nameOf(b))
  return alerts.toSorted(
    (a, b) => failed(b) - failed(a) || (a.value === b.value ? byOldest(a, b) : isBeyond(a, a.value, b.value) ? -1 : 1),
  )
}

/**
 * When the number of targets began to rise to what it is: when the shortest time began in which most of them broke, with those before that
 * broke together with these. Single targets that broke long before are another matter.
 */
export function beginningOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  const most = Math.floor(sorted.length / 2)
  const lengthFrom = (i: number) => sorted[i + most]! - sorted[i]!
  let first = 0
  for (let i = 1; i + most < sorted.length; i++) if (lengthFrom(i) < lengthFrom(first)) first = i
  const together = Math.max(TOGETHER_SECONDS, (4 * lengthFrom(first)) / most)
  while (first > 0 && sorted[first]! - sorted[first - 1]! <= together) first -= 1
  return sorted[first]!
}

/** On how many targets values are held over, for each reason. */
function heldAmong(firing: readonly Alert[]): Incident['held'] {
  const all = firing.flatMap(({ target, held }) => (held === undefined ? [] : { ...held, target }))
  return [...Map.groupBy(all, (held) => held.for).values()].map((same) => ({
    since: Math.max(...same.map(({ since }) => since)),
    for: same[0]!.for,
    targets: new Set(same.map(({ target }) => target)).size,
  }))
}

/** Their calls; nothing if they were counted at several times. */
function callsOf(measured: readonly Alert[]): Pick<Incident, 'calls'> {
  const times = measured.flatMap(({ held }) => held?.since ?? [])
  const asOf = Math.max(...times)
  if (times.length > 0 && asOf - Math.min(...times) > TOGETHER_SECONDS) return {}
  const counted = measured.flatMap(({ counts }) => counts ?? [])
  const counts = countByStatus(
    counted.flatMap((each) => [...FINAL_STATUSES, 'other' as const].map((status) => ({ status, n: each[status] }))),
  )
  const outcome = FAILURES.find(
    (one) => counts[one] > 0 && counts[one] >= MOST * sum(FAILURES.map((each) => counts[each])),
  )
  const failed = sum(measured.map((alert) => failuresOf(alert) ?? 0))
  const known = { ...(outcome !== undefined && { outcome }), ...(times.length > 0 && { asOf }) }
  return { calls: { counts, total: counts.total, failed, ...known } }
}

function contributorOf(alerts: readonly Alert[]): Incident['contributor'] {
  const by = Map.groupBy(
    alerts.flatMap(({ contributor }) => contributor ?? []),
    ({ label, value }) => `${label} ${value}`,
  )
  const [first] = [...by.values()].find((same) => same.length * 2 > alerts.length) ?? []
  return first && { label: first.label, value: first.value }
}

/** Requests that fail are why no poll succeeds, not the other way round. They are no reason why calls that began long before are open. */
function causesOf({ signal: { name } }: Alert): readonly CauseSignal[] {
  if (name === 'stuck_calls') return []
  return name === 'request_errors' ? [name] : CAUSES
}

/** Only what fails now: the errors of a window may be past. */
function causeOf(signal: CauseSignal, alerts: readonly Stated[]): Incident['causes'] {
  const own = alerts.filter((one) => one.signal.name === signal && one.state === 'firing' && one.isQuiet !== true)
  if (own.length === 0) return []
  const reasons = Map.groupBy(
    own.flatMap(({ cause }) => cause ?? []),
    (cause) => cause,
  )
  const [cause] = [...reasons].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? []
  return [{ signal, targets: targetsOf(own).size, ...(cause !== undefined && { cause }) }]
}

/** Less severe alerts on the same subject say nothing else. */
function othersOf(all: readonly Alert[], own: readonly Alert[]): Incident['others'] {
  const [first, said] = [own[0]!, new Set(own.map(({ alert }) => alert))]
  const subject = ruleSubjectOf(first)
  const isOther = (one: Alert) => !said.has(one.alert) && (ruleSubjectOf(one) !== subject || !isMoreSevere(first, one))
  const names = Map.groupBy(all.filter(isOther), ({ alert }) => alert)
  return [...names]
    .map(([alert, same]) => ({ alert, targets: targetsOf(same).size }))
    .toSorted((a, b) => b.targets - a.targets)
}
