import { FAILURES } from '../ledger/failure-ratio.ts'
import { alertOf, placeOf, subjectOf, type Alert, type LiveAlert } from './alert.ts'
import { bySeverity, isMoreSevere, type AlertMatch, type Severity } from './match-keys.ts'
import { failuresOf } from './notification.ts'
import { isBeyond, sum, type Contributor } from './signal.ts'

/** The alerts that are notified together. */
export type AlertGroup = {
  /** Identifies the group. */
  key: string
  /** The values that its alerts have in common. */
  labels: AlertMatch
}

/** The signals whose alerts explain others: calls cannot be read, or the service answers with errors. */
const CAUSES = ['poll_age', 'request_errors'] as const
type CauseSignal = (typeof CAUSES)[number]
/** A cause may be seen later than what it causes, by this much (seconds). */
const CAUSE_DELAY_SECONDS = 300
export const isCause = ({ signal: { name } }: Pick<Alert, 'signal'>) => CAUSES.some((cause) => cause === name)

/** What fires on several targets, or on one, for the same reason. Times are UNIX seconds. */
export type Incident = AlertGroup & {
  severity: Severity
  /** The beginning of the breach: when the first of what fires now was seen beyond its threshold. */
  since: number
  /** `grows`: alerts are pending on further targets. `ends`: on most targets the value is cleared. */
  course: 'grows' | 'lasts' | 'ends'
  /** On how many of the targets alerts fire now; on how many others alerts are pending only. */
  targets: { firing: number; pending: number; of: number }
  /** All that fires. */
  firing: readonly Alert[]
  /** The alerts of the most severe rule's subject, one for each target and label: those with most failures come first. */
  alerts: readonly Alert[]
  /** Those of them whose value is beyond the threshold now. */
  worst: readonly Alert[]
  /** The calls of all targets, if the subject is a share of calls that failed. `before` is the share in the oldest window known, if that was within the threshold. */
  calls?: { total: number; failed: number; before?: number; outcome?: (typeof FAILURES)[number] }
  /** The label value that explains most failures on more than half of the targets. */
  contributor?: Pick<Contributor, 'label' | 'value'>
  /** What explains it, on how many of its targets, and the most frequent reason. */
  causes: readonly { signal: CauseSignal; targets: number; cause?: string }[]
  /** The names of other alerts that fire on its targets, each with the number of its targets. */
  others: readonly { alert: string; targets: number }[]
}

/**
 * The incidents of all firing alerts, the most severe and largest first. Pure.
 *
 * @param lives the alerts of all targets
 * @param of how many targets there are
 */
export function incidentsOf(
  lives: readonly LiveAlert[],
  groupOf: (alert: Alert) => AlertGroup,
  of: number,
): Incident[] {
  const all = lives.map((live) => ({ ...alertOf(live), state: live.instance.state }))
  const firing = all.filter(isFiring)
  const onTarget = Map.groupBy(firing, ({ target }) => target)
  const groups = Map.groupBy(all, (alert) => groupOf(alert).key)
  return [...groups.values()]
    .flatMap((alerts) => (alerts.some(isFiring) ? incidentOf(groupOf(alerts[0]!), alerts, onTarget, of) : []))
    .toSorted((a, b) => bySeverity(a, b) || b.targets.firing - a.targets.firing)
}

type Stated = Alert & { state: LiveAlert['instance']['state'] }
const isFiring = ({ state }: Stated) => state !== 'pending'
const targetsOf = (alerts: readonly Alert[]) => new Set(alerts.map(({ target }) => target))

function incidentOf(
  { key, labels }: AlertGroup,
  group: readonly Stated[],
  onTarget: ReadonlyMap<string, readonly Stated[]>,
  of: number,
): Incident {
  const firing = group.filter(isFiring)
  const targets = targetsOf(firing)
  const alerts = mostFailuresFirst(ofOneSubject(firing))
  const [first] = alerts
  const elsewhere = [...targets].flatMap((target) => onTarget.get(target) ?? [])
  const pending = targetsOf(group).size - targets.size
  const cleared = alerts.filter(({ state }) => state === 'recovering').length
  const since = Math.min(...firing.map((alert) => alert.since))
  const early = elsewhere.filter((alert) => alert.since <= since + CAUSE_DELAY_SECONDS)
  const contributor = contributorOf(alerts)
  return {
    key,
    labels,
    severity: firing.reduce((worst, alert) => (isMoreSevere(alert, worst) ? alert : worst)).severity,
    since,
    course: cleared * 2 > alerts.length ? 'ends' : pending > 0 ? 'grows' : 'lasts',
    targets: { firing: targets.size, pending, of },
    firing,
    alerts,
    worst: alerts.filter((alert) => alert.state === 'firing' && isBeyond(alert, alert.value, alert.threshold)),
    ...(first?.counts !== undefined && { calls: callsOf(alerts) }),
    ...(contributor !== undefined && { contributor }),
    causes: CAUSES.flatMap((signal) => causeOf(signal, early)),
    others: othersOf(elsewhere, ruleSubjectOf(first!)),
  }
}

/** What the rule of an alert measures, for all of its groups. */
const ruleSubjectOf = ({ by, ...alert }: Alert) =>
  subjectOf({ ...alert, labels: Object.fromEntries(by.map((label) => [label, '*'])) })

/** The alerts of the most severe and most frequent subject. Of several rules on one subject, the most severe alert counts. */
function ofOneSubject(firing: readonly Stated[]): Stated[] {
  const subjects = Map.groupBy(firing.toSorted(bySeverity), ruleSubjectOf)
  const [most = []] = [...subjects.values()].toSorted(
    ([a, ...more], [b, ...others]) => bySeverity(a!, b!) || others.length - more.length,
  )
  const each = Map.groupBy(most, placeOf)
  return [...each.values()].map(([alert]) => alert!)
}

/** By failed calls or, of what has none, by value. */
function mostFailuresFirst(alerts: readonly Stated[]): Stated[] {
  const failed = (alert: Alert) => failuresOf(alert) ?? 0
  return alerts.toSorted(
    (a, b) => failed(b) - failed(a) || (a.value === b.value ? 0 : isBeyond(a, a.value, b.value) ? -1 : 1),
  )
}

function callsOf(alerts: readonly Alert[]): NonNullable<Incident['calls']> {
  const counted = alerts.flatMap(({ counts }) => counts ?? [])
  const [failed, total] = [
    sum(alerts.map((alert) => failuresOf(alert) ?? 0)),
    sum(counted.map((counts) => counts.total)),
  ]
  const byOutcome = FAILURES.map((outcome) => ({ outcome, n: sum(counted.map((counts) => counts[outcome])) }))
  const most = byOutcome.find(({ n }) => n * 2 > sum(byOutcome.map((each) => each.n)))
  const before = median(alerts.flatMap(({ trend = [] }) => trend.find((value) => value !== null) ?? []))
  const [first] = alerts
  const isUsual = before !== undefined && first !== undefined && !isBeyond(first, before, first.threshold)
  return {
    total,
    failed,
    ...(isUsual && { before }),
    ...(most !== undefined && { outcome: most.outcome }),
  }
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function contributorOf(alerts: readonly Alert[]): Incident['contributor'] {
  const by = Map.groupBy(
    alerts.flatMap(({ contributor }) => contributor ?? []),
    ({ label, value }) => `${label} ${value}`,
  )
  const [first] = [...by.values()].find((same) => same.length * 2 > alerts.length) ?? []
  return first && { label: first.label, value: first.value }
}

function causeOf(signal: CauseSignal, alerts: readonly Alert[]): Incident['causes'] {
  const own = alerts.filter((alert) => alert.signal.name === signal)
  if (own.length === 0) return []
  const reasons = Map.groupBy(
    own.flatMap(({ cause }) => cause ?? []),
    (cause) => cause,
  )
  const [cause] = [...reasons].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? []
  return [{ signal, targets: targetsOf(own).size, ...(cause !== undefined && { cause }) }]
}

function othersOf(alerts: readonly Alert[], own: string): Incident['others'] {
  const names = Map.groupBy(
    alerts.filter((alert) => ruleSubjectOf(alert) !== own),
    ({ alert }) => alert,
  )
  return [...names]
    .map(([alert, all]) => ({ alert, targets: targetsOf(all).size }))
    .toSorted((a, b) => b.targets - a.targets)
}
