import { measuredIn, type AlertInstance, type Evidence } from './alert-instance.ts'
import type { Rule } from './rule.ts'
import { withUsual } from './usual.ts'

/**
 * An alert of a target: its rule, with the thresholds that it has by the usual share, its last value, and what explains the value. Target and
 * key identify it. Times are UNIX seconds.
 */
export type Alert = Omit<Rule, 'name'> &
  Pick<AlertInstance, 'key' | 'labels' | 'since' | 'value' | 'peak'> &
  Partial<Pick<AlertInstance, 'calls' | 'counts' | 'compared' | 'usual'>> &
  Evidence & {
    target: string
    /** The rule's name. */
    alert: string
    /** `since` if it is pending. */
    firingSince: number
    held?: Held | undefined
  }

/** That a value was measured at a time (UNIX seconds), and why there is none since. */
export type Held = { since: number; for: (typeof HELD_FOR)[number] }
export const HELD_FOR = ['calls', 'polls'] as const

/** The signals whose alerts explain others: calls cannot be read, or the service answers with errors. They are evaluated without polls, too. */
export const CAUSES = ['poll_age', 'request_errors'] as const
export const isCause = ({ signal: { name } }: Pick<Alert, 'signal'>) => CAUSES.some((cause) => cause === name)

/** An instance and its target. */
export type LiveAlert = { target: string; instance: AlertInstance }

type WithAlerts = { name: string; alerts: { values: () => Iterable<AlertInstance> } }

/** The alerts of some targets. */
export const livesOf = (targets: readonly WithAlerts[]): LiveAlert[] =>
  targets.flatMap(({ name: target, alerts }) => Array.from(alerts.values(), (instance) => ({ target, instance })))

type Measured = Pick<Alert, 'labels' | 'match' | 'breach'> & { signal: object }

/** The keys of signals that do not change what is counted: how long, and how much is enough for a result. */
const HOW_SURE = /^(?:window|min[A-Z].*|confidence|aboveUsual)$/

/** Names what an alert measures. Alerts of one subject differ in target, threshold, window and severity. */
export function subjectOf({ signal, labels, match, breach }: Measured): string {
  const sorted = (values: object) =>
    Object.entries(values)
      .filter(([key, value]) => value !== undefined && !HOW_SURE.test(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([sorted(signal), breach, sorted({ ...match, ...labels })])
}

/** Names an alert among those of all targets. */
export const nameOf = ({ target, key }: Pick<Alert, 'target' | 'key'>) => JSON.stringify([target, key])

/** Names what alerts of a target measure: those that differ only in severity, threshold and window have the same. */
export const placeOf = (alert: Pick<Alert, 'target'> & Parameters<typeof subjectOf>[0]) =>
  JSON.stringify([alert.target, subjectOf(alert)])

/** An alert whose value is from before if it was not evaluated since `freshFrom` (UNIX seconds). */
export function withHeld<One extends Alert>(alert: One, evaluatedAt: number, freshFrom: number): One {
  if (evaluatedAt >= freshFrom || isCause(alert)) return alert
  return { ...alert, held: { since: alert.held?.since ?? evaluatedAt, for: 'polls' } }
}

export function alertOf({ target, instance }: LiveAlert): Alert {
  const { key, labels, since, firingSince = since, peak, evidence, measuredAt } = instance
  const measured = measuredIn(instance)
  const { name: alert, ...rule } = withUsual(instance.rule, measured.usual)
  return {
    ...rule,
    target,
    key,
    alert,
    labels,
    since,
    firingSince,
    ...measured,
    peak,
    ...evidence,
    held: measuredAt === undefined ? undefined : { since: measuredAt, for: 'calls' },
  }
}
