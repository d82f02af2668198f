import { bySeverity, matchOfAll, type AlertMatch } from '../../../../alerts/match-keys.ts'
import { formatNumber, plural, withoutNumbers } from '../../../../text/format.ts'
import { plainText } from '../../../../text/plain-text.ts'
import type { Alert, Incident, Rule } from '../api.ts'
import { labelText, minute, momentInZone, unitOf } from '../format.ts'
import { nowOf, type State } from '../state.ts'
import { steady } from '../steady.ts'
import { shownAlerts, toneOf } from '../totals.ts'

/** One of the worst alerts of an incident, as it is now if that is known. `share` is the length of its bar, from 0 to 1: a share, or how it is to the greatest one; 0 where such are alike. */
export type WorstLine = Incident['worst'][number] & { live: Alert | undefined; share: number }

/** An incident with its worst alerts, as it is on the selected targets. */
export type ShownIncident = ReturnType<typeof shownIncidents>[number]

const keyOf = ({ target, key }: { target: string; key: string }) => `${target}|${key}`

/** The head of the overview has as many incidents, the worst ones. */
export const MOST_INCIDENTS = 3
/** Values that differ by less than a tenth rank nothing. */
const ALIKE = 0.9
/** So many alerts that are alike are named, and as many reasons at most. */
const FEW = 3
const MOST_REASONS = 5

/** The incidents of the selected targets, the worst first. Failed requests to targets without polls are part of the incident of these. */
export function shownIncidents(state: State) {
  const firing = shownAlerts(state).filter((alert) => alert.state !== 'pending')
  const live = new Map(firing.map((alert) => [keyOf(alert), alert]))
  const unpolled = new Set(firing.flatMap((alert) => (isOfPolls(alert) ? alert.target : [])))
  const isUnpolled = ({ target }: Alert) => unpolled.has(target)
  const groups = Map.groupBy(firing, ({ group }) => labelText(group))
  const why = waitsFor(state)
  return (state.snapshot?.incidents ?? []).flatMap((whole) => {
    const own = (groups.get(labelText(whole.group)) ?? []).toSorted(byFailures)
    const [first, ...rest] = own
    const isOfThese = own.some(isOfPolls)
    if (first === undefined || (isOfRequests(first) && own.filter(isUnpolled).length * 2 > own.length)) return []
    const others = state.target === '' ? 0 : whole.targets.firing - 1
    const incident = others > 0 ? onTarget(state, whole, [first, ...rest]) : whole
    const worst = steady(state, `worst ${JSON.stringify(incident.group)}`, incident.worst, keyOf)
    const { lines, isUnranked } = ranked(worst, live)
    const [waits, noun] = waitsByTarget(own, why)
    // Failed requests are why no poll succeeds.
    const causes = isOfThese ? firing.filter((one) => isOfRequests(one) && isUnpolled(one)) : []
    return {
      incident,
      /** The worst alert, or one that is within its threshold again. */
      lead: incident.worst.map((one) => live.get(keyOf(one)))[0] ?? first,
      lines,
      /** Why it fires on how many targets, where that tells more than values that are alike. */
      reasons: isUnranked && isOfThese ? reasonsOf(state, incident, own) : [],
      targets: new Set(own.map(targetName)),
      /** On how many other targets it is, where one is selected. */
      others,
      /** On which of its targets, or of which alerts of a single one, nobody is notified, and why; whether that is all of them, and whether any is beyond its threshold. */
      waits: waitsText(waits, noun),
      isQuiet: waits.length > 0 && waits.every(Boolean),
      isBeyond: own.some((one) => toneOf(one) !== ''),
      /** Selects all that fires of it. */
      match: matchOfAll(whole.group, [first, ...rest, ...causes]),
    }
  })
}

/** The worst alerts with the lengths of their bars, a few of them if nothing ranks them: failed calls rank what is alike. */
function ranked(worst: readonly Incident['worst'][number][], live: ReadonlyMap<string, Alert>) {
  const values = worst.map(({ value }) => value ?? 0)
  const highest = Math.max(...values)
  const isAlike = Math.min(...values) > ALIKE * highest
  const isUnranked = isAlike && worst.length > FEW && worst[0]!.failed === null
  const lines = worst.slice(0, isUnranked ? FEW : undefined).map((one, i): WorstLine => {
    const alert = live.get(keyOf(one))
    const isShare = alert !== undefined && unitOf(alert) === 'ratio'
    return {
      ...one,
      live: alert,
      share: isAlike && !isShare ? 0 : Math.min(1, values[i]! / (isShare ? 1 : highest || 1)),
    }
  })
  return { lines, isUnranked }
}

/** The most frequent reasons first; none if none is known. Where numbers differ, the text is that of one target. */
function reasonsOf(state: State, { group }: Incident, alerts: readonly Alert[]) {
  const byReason = Map.groupBy(alerts, (alert) => withoutNumbers(reasonOf(state, alert)))
  if (byReason.size === 1 && byReason.has('')) return []
  const all = new Set(alerts.map(targetName)).size
  const reasons = [...byReason].map(([reason, same]) => {
    const { size } = new Set(same.map(targetName))
    const text = reasonOf(state, same[0]!) || 'the reason is not known'
    return { reason, text, count: formatNumber(size), share: size / all }
  })
  const inOrder = reasons.toSorted((a, b) => b.share - a.share).slice(0, MOST_REASONS)
  return steady(state, `reasons ${JSON.stringify(group)}`, inOrder, ({ reason }) => reason)
}

const targetName = ({ target }: Alert) => target

/** What is wrong with the target of an alert; '' if nothing is. */
export const reasonOf = (state: State, alert: Pick<Alert, 'target'>) => plainText(targetOf(state, alert)?.problem ?? '')

/** The most severe first, of these those with most failed calls. */
const byFailures = (a: Alert, b: Alert) => bySeverity(a, b) || callsOf(b).failed - callsOf(a).failed

const isOfPolls = ({ signal }: Alert) => signal === 'poll_age'
const isOfRequests = ({ signal }: Alert) => signal === 'request_errors'

/** An incident on several targets as it is on one of them. */
function onTarget(state: State, whole: Incident, [alert, ...others]: [Alert, ...Alert[]]): Incident {
  const [began] = [alert, ...others].map((one) => one.began).toSorted()
  const text = `Since ${momentInZone(began!, nowOf(state))}`
  const { total, failed } = callsOf(alert)
  return {
    ...whole,
    severity: alert.severity,
    summary: alert.summary,
    details: [{ about: 'since', text }, ...whole.details.filter(({ about }) => about === 'rule')],
    calls: total > 0 ? { total, failed, outcome: null, as_of: alert.held?.since ?? null } : null,
    worst: whole.worst.filter(({ target }) => target === alert.target),
  }
}

const targetOf = ({ snapshot }: State, { target }: Pick<Alert, 'target'>) =>
  snapshot?.targets.find(({ name }) => name === target)

export const ruleOf = (state: State, alert: Pick<Alert, 'target' | 'alert'>): Partial<Rule> =>
  targetOf(state, alert)?.rules.find(({ name }) => name === alert.alert) ?? {}

/** The calls whose share of failed ones the value of an alert is; none of any other value. */
export function callsOf({ signal, value, calls, compared }: Alert) {
  const total = signal === 'failure_ratio' && compared === undefined ? (calls ?? 0) : 0
  return { total, failed: value * total }
}

/** What silences an alert, with what else fires of its incident on its target. */
export const matchOfAlert = (state: State, alert: Alert | undefined): AlertMatch | undefined =>
  alert &&
  (shownIncidents({ ...state, target: alert.target }).find(({ incident }) => isPart(alert, incident))?.match ??
    matchOfAll({}, [alert]))

/** Whether an alert fires and is part of an incident. */
export const isPart = ({ state, group }: Alert, incident: Incident) =>
  state !== 'pending' && labelText(group) === labelText(incident.group)

/** What has been done to an alert by what suppresses it. */
export const WORDS = { silence: 'silenced', mute: 'muted', inhibition: 'inhibited', poll_age: 'not polled' }

type Suppression = NonNullable<Alert['suppressed']>[number] & { at?: string }

/** What suppresses an alert, until when and by whom or what, and why; since when, if that is known. */
export function suppressedBy(state: State) {
  const now = nowOf(state)
  const silences = new Map(state.snapshot?.silences.map((silence) => [silence.id, silence]))
  return ({ by, silence = 0, alert, target, ...noted }: Suppression) => {
    const { since, author = alert } = silences.get(silence) ?? {}
    const { until, reason = '' } = silences.get(silence) ?? noted
    const more = [until && `until ${minute(until, now)}`, author && `by ${author}`, target && `on ${target}`]
    const why = reason && `: ${reason}`
    return { what: WORDS[by], more: more.filter(Boolean).join(' '), why, at: noted.at ?? since }
  }
}

/** What suppresses an alert now; '' if nothing does. */
export function waitsFor(state: State) {
  const textOf = suppressedBy(state)
  return ({ suppressed = [] }: Alert) =>
    suppressed
      .map(textOf)
      .map(({ what, more }) => `${what} ${more}`.trim())
      .join(', ')
}

/** The alerts without those that another one of them inhibits. */
export function ownAlerts(alerts: readonly Alert[]) {
  const names = new Set(alerts.map(keyOf))
  const isLess = ({ suppressed = [], ...one }: Alert) =>
    suppressed.some(({ target = one.target, alert = '' }) => names.has(keyOf({ target, key: alert })))
  return alerts.filter((alert) => !isLess(alert))
}

/** What suppresses all alerts of each target, or each alert of a single target, and what these are. */
function waitsByTarget(alerts: readonly Alert[], why: (alert: Alert) => string): [waits: string[], noun: string] {
  const byTarget = [...Map.groupBy(ownAlerts(alerts), targetName).values()].map((own) => own.map(why))
  if (byTarget.length === 1) return [byTarget[0]!, '']
  return [byTarget.map((waits) => (waits.every(Boolean) ? waits[0]! : '')), 'target']
}

/** `silenced until 15:13 by ops` of all alerts; of several, how many are silenced, muted or inhibited: `2 silenced until 15:13 by ops`, or `2 targets silenced …`. */
export function waitsText(all: readonly string[], noun = '') {
  // The first reason is enough.
  const reasons = all.map((each) => each.split(', ')[0]!)
  const [first = ''] = reasons
  if (reasons.every((reason) => reason === first)) return first
  const kinds = Map.groupBy(reasons, (reason) => reason.split(/\W/)[0]!)
  kinds.delete('')
  return [...kinds]
    .map(
      ([kind, alike]) =>
        `${noun ? plural(alike.length, noun) : formatNumber(alike.length)} ${alike.every((one) => one === alike[0]) ? alike[0] : kind}`,
    )
    .join(', ')
}
