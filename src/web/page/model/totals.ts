import { isBeyond } from '../../../alerts/signal.ts'
import { RULE_LABELS } from '../../../alerts/groups.ts'
import { FINAL_STATUSES } from '../../../ledger/call.ts'
import { failureRatio, MIN_EXPORTED_CALLS, REASONS } from '../../../ledger/failure-ratio.ts'
import { SEVERITIES } from '../../../alerts/match-keys.ts'
import { callsWith, formatNumber, formatSeconds, formatShare } from '../../../text/format.ts'
import type { Alert, Rule, Target } from './api.ts'
import { named } from './format.ts'
import type { State } from './state.ts'

/** The final statuses, in the order of the stacked chart, and what a report counts besides. */
export const STATUSES = [...FINAL_STATUSES, 'other'] as const
export const OUTCOMES = [...STATUSES, 'lost'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** The selected targets. */
export function shownTargets({ snapshot, target }: State): Target[] {
  return (snapshot?.targets ?? []).filter(({ name }) => target === '' || name === target)
}

/** Whether the selected target is none of the configuration. */
export const isUnknown = (state: State) => state.target !== '' && shownTargets(state).length === 0

/** Whether anything is known of a target. */
export const isPolled = ({ last_success }: Target) => last_success !== null

export const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((total, item) => total + of(item), 0)

/** How many calls of a row or a point have some outcomes. */
export const countOf = (
  row: { calls: Readonly<Record<Outcome, number>> } | undefined,
  outcomes: readonly Outcome[] = OUTCOMES,
) => sum(outcomes, (outcome) => row?.calls[outcome] ?? 0)

export type Window = Target['windows'][number]

/** The windows of some targets, added up. */
export function windowsOf(targets: Target[]): Window[] {
  return (targets[0]?.windows ?? []).map((like, i) => {
    const windows = targets.flatMap((target) => target.windows[i] ?? [])
    const finished = countsBy(STATUSES, (status) => sum(windows, (one) => one.finished[status]))
    const total = sum(windows, ({ calls }) => calls)
    const ratio = countsBy(REASONS, (reason) => failureRatio({ ...finished, total }, reason))
    return { ...like, calls: total, finished, failure_ratio: total < MIN_EXPORTED_CALLS ? null : ratio }
  })
}

export type RuleRatio = {
  rule: Rule
  reading: NonNullable<Rule['readings']>[number]
  /** Undefined while the rule is inactive */
  alert: Alert | undefined
}

/**
 * The failure ratios of the rules of a single target, those with the most urgent alerts first. A rule may match fewer calls than a
 * window has.
 */
export function ruleRatios(state: State): RuleRatio[] {
  const only = onlyOf(shownTargets(state))
  if (only === undefined) return []
  const alerts = new Map(shownAlerts(state).map((alert) => [named(alert), alert]))
  const alertOf = ({ name }: Rule, { labels }: RuleRatio['reading']) =>
    alerts.get(named({ alert: name, target: only.name, labels }))
  return only.rules
    .flatMap((rule) =>
      (rule.readings ?? []).map((reading) => ({ rule: at(rule, reading), reading, alert: alertOf(rule, reading) })),
    )
    .toSorted((a, b) => urgencyOf(a.alert) - urgencyOf(b.alert))
}

/** Whether a rule compares a failure ratio itself. */
const isOfShare = ({ signal, relative_to_seconds: offset }: Pick<Rule, 'signal' | 'relative_to_seconds'>) =>
  signal === 'failure_ratio' && offset === undefined

/** The rules whose threshold applies to the failure ratio of the calls of these targets: those on the same calls of a single target. */
export const rulesOfCalls = (targets: readonly Pick<Target, 'rules'>[], query = new URLSearchParams()) =>
  (onlyOf(targets)?.rules ?? [])
    .filter(
      ({ match, by, ...rule }) =>
        isOfShare(rule) &&
        RULE_LABELS.every((label) => {
          const asked = query.get(label) ?? ''
          return (match[label] ?? (by.includes(label) ? asked || 'each' : '')) === asked
        }),
    )
    .map((rule) => {
      const reading = rule.readings?.find(({ labels }) => rule.by.every((label) => labels[label] === query.get(label)))
      return reading ? at(rule, reading) : rule
    })

/** A rule with the thresholds of a reading. */
export const at = (rule: Rule, { threshold, clear }: RuleRatio['reading']): Rule => ({ ...rule, threshold, clear })

/** The target where one is shown. */
export const onlyOf = <Of>(targets: readonly Of[]) => (targets.length === 1 ? targets[0] : undefined)

export type MainRatio = {
  window: string
  calls: number
  /** Undefined with too few calls. */
  any: number | undefined
  /** The rule whose number it is, or that has the highest one of several targets, such as `shop-01, 24% of 40 ringing calls`. */
  rule?: Rule | undefined
  highest?: string
}

/**
 * The share of failed calls: of one target the number that a rule compares with its threshold, of several that of all calls, and where
 * the number of a rule is highest. The rule is the one with the shortest window among those on all failures, preferably one on all
 * calls. Without such a rule it is the ratio of the shortest exported window.
 */
export function mainRatio(targets: Target[]): MainRatio | undefined {
  const read = targets.flatMap(({ name: target, rules }) => {
    const [rule] = rules
      .filter((one) => isOfShare(one) && one.reason === 'any' && one.breach === 'above' && one.by.length === 0)
      .toSorted((a, b) => matchesOf(a) - matchesOf(b) || (a.window_seconds ?? 0) - (b.window_seconds ?? 0))
    const { window_seconds: seconds = 0, readings: [reading] = [] } = rule ?? {}
    const { calls = 0, value } = reading ?? {}
    return rule
      ? [
          {
            target,
            rule: reading ? at(rule, reading) : rule,
            window: formatSeconds(seconds),
            calls,
            any: value ?? undefined,
          },
        ]
      : []
  })
  const [worst] = read.toSorted((a, b) => (b.any ?? -1) - (a.any ?? -1))
  if (worst !== undefined && targets.length === 1) return worst
  const [exported] = windowsOf(targets)
  const { rule, target, window, any = 0, calls = 0 } = worst ?? {}
  const of = exported && { ...exported, any: exported.failure_ratio?.any }
  if (of?.any === undefined || any <= of.any) return of
  const inOther = window === of.window ? '' : ` in ${window}`
  return { ...of, rule, highest: `${target}, ${formatShare(any)} of ${callsOf(rule, calls)}${inOther}` }
}

/** `40 ringing calls`: those of a rule. */
const callsOf = (rule: Rule | undefined, calls: number) =>
  `${formatNumber(calls)} ${callsWith(rule?.match ?? {}, calls)}`

const matchesOf = ({ match }: Rule) => Object.keys(match).length

/**
 * @returns the most urgent first
 */
export function shownAlerts({ snapshot, target }: State): Alert[] {
  return (snapshot?.alerts ?? [])
    .filter((alert) => target === '' || alert.target === target)
    .toSorted((a, b) => urgencyOf(a) - urgencyOf(b))
}

/**
 * Orders alerts by severity, recovering ones after those that fire, then pending ones, and no alert at the end. The most urgent has the
 * lowest number.
 */
export function urgencyOf(alert: Alert | undefined) {
  if (alert === undefined) return 100
  return { firing: 0, recovering: 10, pending: 20 }[alert.state] + SEVERITIES.indexOf(alert.severity)
}

/** The severity of an alert that is beyond its threshold now; only that has its colour. */
export const toneOf = (alert: Alert | undefined) =>
  alert?.state === 'firing' && isBeyond(alert, alert.value, alert.threshold) ? alert.severity : ''

/** A function that is computed once for each object. */
export function once<Key extends object, Value>(of: (key: Key) => Value) {
  const known = new WeakMap<Key, { value: Value }>()
  return (key: Key) => {
    const found = known.get(key) ?? { value: of(key) }
    known.set(key, found)
    return found.value
  }
}

/** A number for each of some names. */
export function countsBy<Name extends string>(names: readonly Name[], of: (name: Name) => number) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has an entry for each name
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, number>
}
