import { clockOf, failText, formatNumber, formatTime, plural } from '../../text/format.ts'
import type { Alert } from '../alert.ts'
import { definitionOf } from '../definition-of.ts'
import type { RuleLabels } from '../groups.ts'
import { beginningOf, targetsOf, TOGETHER_SECONDS, type Incident, type Said } from '../incidents.ts'
import { bySeverity } from '../match-keys.ts'
import { failuresOf } from '../notification.ts'
import { runbookOf } from '../runbook.ts'
import { sum, windowOf } from '../signal.ts'
import { descriptionOf, formatValue, noneText, ruleText, splitOf, titleOf } from './alert-text.ts'

/** How many of the worst alerts, and of what else fires, a text names. */
export const NAMED = 3

/**
 * `295 of 300 targets (99 of 100 *-eu-*, 196 of 200 others): 84% of 4,120 ringing calls failed in 15 minutes, mostly unanswered`; a target alone by its name; what is no share of
 * calls by its value, or by its rule if there are several alerts whose values do not add up. It begins with `Recovering` where nothing is
 * beyond its threshold. Where no value is of now, it says why, and what the last one was. How many targets it names is on how many it has
 * numbers.
 */
export function incidentSentence(incident: Said): string {
  const { targets, alerts, measured, at } = incident
  const [first] = measured
  const { size } = targetsOf(alerts)
  const on =
    size === 1
      ? first!.target
      : `${formatNumber(size)} of ${plural(targets.of, 'target')}${severityText(incident)}${sharedText(incident.shared)}`
  const value = valueText(incident)
  const what = first!.held ? heldText(measured, at, value) : value
  return `${isRecovering(incident) ? 'Recovering: ' : ''}${on}: ${what}`
}

/** `, critical on 4`: on how many targets the worst is, if not on all. */
function severityText({ alerts, worst }: Said): string {
  const { severity } = (worst.length > 0 ? worst : alerts).toSorted(bySeverity)[0]!
  const { size } = targetsOf(alerts.filter((one) => one.severity === severity))
  return size < targetsOf(alerts).size ? `, ${severity} on ${formatNumber(size)}` : ''
}

/** ` (99 of 100 *-eu-*, 4 of 200 others)`. */
export function sharedText(shared: Said['shared']): string {
  if (shared === undefined) return ''
  const { by, value, others, ...own } = shared
  const share = ({ failing, of }: typeof others) => `${formatNumber(failing)} of ${formatNumber(of)}`
  return ` (${share(own)} ${by === 'name' ? '' : `of ${by} `}${value}, ${share(others)} others)`
}

/** Its value: of a single alert, or of several whose values add up; of others the least and the greatest. */
function valueText(incident: Said): string {
  const { calls, measured } = incident
  const [first] = measured
  const window = windowOf(first!.signal)
  const reason = 'reason' in first!.signal ? first!.signal.reason : undefined
  return calls ? failText({ ...calls, of: labelsOf(measured), window }, reason) : measuredText(incident)
}

/** Why there is no value of now, since when, and what it was then, if all of them were measured at that time. */
function heldText(alerts: readonly Alert[], at: number, value: string): string {
  const times = alerts.flatMap(({ held }) => held?.since ?? [])
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const before = last - first <= TOGETHER_SECONDS ? `; before that, ${value}` : ''
  return `${noneText(alerts[0]!)} since ${clockOf(last, at)}${before}`
}

/** Whether nothing of an incident is beyond its threshold. */
export const isRecovering = ({ worst }: Pick<Incident, 'worst'>) => worst.length === 0

/**
 * What is measured. Since when there is no poll, as everything else says it, rather than for how long at least.
 */
function measuredText({ measured, worst, at, since }: Said): string {
  const [first] = measured
  const polls = worst.flatMap(({ lastPoll }) => lastPoll ?? [])
  if (polls.length > 0) {
    const last = beginningOf(polls)
    // The incident may have begun long before, on targets that can be read again.
    return `no successful poll since ${clockOf(last - since < TOGETHER_SECONDS ? since : last, at)}`
  }
  const { signal } = first!
  const definition = definitionOf(signal)
  const describe = (value: number) => definition.describe({ ...first!, kind: 'firing', value }, signal)
  // An open call is in one of the alerts, so that their numbers add up.
  if ('oldest' in definition) return describe(sum(measured.map(({ value }) => value)))
  const sorted = measured.map(({ value }) => value).toSorted((a, b) => a - b)
  const [least, greatest] = [sorted[0]!, sorted.at(-1)!]
  const texts = new Set([least, greatest].map(describe))
  if (texts.size === 1) return [...texts][0]!
  const values = `${formatValue(first!, least)} to ${formatValue(first!, greatest)}`
  return definition.inWords({ ...first!, name: first!.alert, values })
}

/** The labels of the calls that all of the alerts are about. */
function labelsOf(alerts: Incident['alerts']): RuleLabels {
  const [first, ...others] = alerts.map(({ match, labels }) => Object.entries({ ...match, ...labels }))
  const isCommon = ([name, value]: [string, string]) =>
    others.every((entries) => entries.some(([other, its]) => other === name && its === value))
  return Object.fromEntries(first!.filter(isCommon))
}

/** What is said of an incident, in the order of its lines. */
const TEXTS = {
  since: ({ since }) => [`Since ${formatTime(since)}`],
  held: (incident) => incident.held.map((held) => isPartly(incident) && heldLine(held, incident)),
  cause: (incident) => [incident.causes.map((cause) => causeText(cause, incident)).find(Boolean)],
  outcomes: ({ calls, at }) => [
    calls && `Outcomes${calls.asOf === undefined ? '' : ` at ${clockOf(calls.asOf, at)}`}: ${splitOf(calls)}`,
  ],
  pending: ({ targets: { pending } }) => [pending > 0 && `Pending on ${plural(pending, 'more target')}`],
  told: ({ told, targets: { firing } }) => [
    told !== undefined && told !== firing && `On ${plural(told, 'target')} in the message before`,
  ],
  messages: ({ messages = [], at }) => {
    const latest = messages.map((one) => `${one.receiver} ${clockOf(one.at, at)}`)
    return [latest.length > 0 && `Last message: ${latest.join(', ')}`]
  },
  oldest: ({ alerts }) => [oldestText(alerts)],
  worst: ({ alerts, worst, at }) => [
    worst.length > 0 && alerts.length > 1 && (alerts.length <= NAMED || differ(worst)) && worstTexts(worst, at),
  ],
  mostly: ({ contributor }) => [contributor && `Mostly: ${contributor.label} ${contributor.value}`],
  others: (incident) => [incident.others.length > 0 && `Also firing: ${othersText(incident)}`],
  description: (incident) => [descriptionText(incident)],
  rule: (incident) => {
    const rules = [...Map.groupBy(incident.alerts, ({ alert }) => alert).values()].slice(0, NAMED).map(inCommon)
    return rules.map((alert) => ruleLine(titleOf({ ...alert, labels: {} }), ruleText(alert), incident))
  },
} satisfies Record<string, (incident: Incident) => (string | false | undefined)[]>

/** An alert with what alerts of one rule have in common: with several usual shares none, and the lowest threshold. */
function inCommon(alerts: readonly Alert[]): Alert {
  const [first] = alerts
  if (alerts.every(({ usual }) => usual === first!.usual)) return first!
  return { ...first!, usual: undefined, threshold: Math.min(...alerts.map(({ threshold }) => threshold)) }
}

/** The description of the rule, with the numbers of the sentence, while something is beyond its threshold. */
function descriptionText({ alerts, calls, worst }: Incident): string | undefined {
  const [first, ...others] = alerts
  if (worst.length === 0) return undefined
  if (others.length === 0) return descriptionOf(first!)
  const rule = inCommon(alerts.filter(({ alert }) => alert === first!.alert))
  const counted = calls && calls.asOf === undefined && { value: calls.failed / calls.total, calls: calls.total }
  return descriptionOf(rule, counted || { value: NaN })
}

/** What a line about an incident says. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a list that never changes
export const ABOUT = Object.keys(TEXTS) as (keyof typeof TEXTS)[]
type Line = { about: keyof typeof TEXTS; text: string }

/** What else is known of an incident, a line each; numbers instead of lists of names. */
export function incidentLines(incident: Incident): Line[] {
  return ABOUT.flatMap((about) => TEXTS[about](incident).flatMap((text) => (text ? { about, text } : [])))
}

/** `Rule: HighFailureRate, more than 30% of the calls …`; its name alone where the sentence about the incident says the rest. */
const ruleLine = (name: string, rule: string, incident: Incident) =>
  incidentSentence(incident).includes(rule) ? `Rule: ${name}` : `Rule: ${name}, ${rule}`

/** On how many targets something is; empty where there is only one. */
const onTargets = (targets: number, { targets: { of } }: Incident) =>
  of === 1 ? '' : ` on ${plural(targets, 'target')}`

/** Whether the values of some of its alerts are of now, and of others from before. */
const isPartly = ({ measured }: Incident) => measured[0]!.held === undefined

const heldLine = ({ for: reason, targets, since }: Incident['held'][number], incident: Incident) =>
  `${reason === 'polls' ? 'No successful poll' : 'Too few calls for a value'}${onTargets(targets, incident)} since ${clockOf(since, incident.at)}`

/** `Oldest call: since 2026-11-20 08:00:00 UTC, session v1.us.123 on shop-01`. */
function oldestText(alerts: Incident['alerts']): string | undefined {
  const all = alerts.flatMap(({ target, oldest }) => (oldest === undefined ? [] : { target, ...oldest }))
  const [first] = all.toSorted((a, b) => a.began - b.began)
  return first && `Oldest call: since ${formatTime(first.began)}, session ${first.session} on ${first.target}`
}

/** Whether the values of alerts do not read alike. */
const differ = (worst: Incident['worst']) => new Set(worst.map((one) => formatValue(one, one.value))).size > 1

function worstTexts(worst: Incident['worst'], at: number): string {
  const [first] = worst
  const by = failuresOf(first!) === undefined ? 'Worst' : 'Most failed calls'
  return `${by}: ${worst
    .slice(0, NAMED)
    .map((one) => worstText(one, at))
    .join(', ')}`
}

/** An incident is not the cause of itself: then only the reason is said. Missing polls cause nothing else that is measured. */
function causeText({ signal, targets, cause }: Incident['causes'][number], incident: Incident): string | undefined {
  if (signal === incident.alerts[0]!.signal.name) return cause && `Cause: ${cause}`
  if (signal === 'poll_age') return undefined
  return `Cause: ${cause ?? 'failed requests to the calls service'}${onTargets(targets, incident)}`
}

function othersText(incident: Incident): string {
  const { others } = incident
  return rulesText(others.map(({ alert, targets }) => `${alert}${onTargets(targets, incident)}`))
}

/** `shop-01 75% of 40 calls`; of a value from before, with its time. */
function worstText(alert: Alert, at: number): string {
  const { target, value, calls, held } = alert
  const where = `${target}${titleOf({ ...alert, alert: '' })}`
  const ofCalls = calls === undefined || failuresOf(alert) === undefined ? '' : ` of ${plural(calls, 'call')}`
  return `${where} ${formatValue(alert, value)}${ofCalls}${held ? ` at ${clockOf(held.since, at)}` : ''}`
}

/** `HighFailureRate, NoCalls, StuckCalls, 2 more rules`. */
export function rulesText(rules: readonly string[]): string {
  const more = rules.length - NAMED
  return [...rules.slice(0, NAMED), ...(more > 0 ? [plural(more, 'more rule')] : [])].join(', ')
}

/** @param runbooks the address of the pages; undefined if it is not known */
export function runbookOfAll(alerts: readonly Alert[], runbooks: string | undefined): string | undefined {
  const all = alerts.toSorted(bySeverity)
  return all.map(({ alert: name, runbookUrl }) => runbookOf({ name, runbookUrl }, runbooks)).find(Boolean)
}
