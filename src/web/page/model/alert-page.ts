import { RULE_LABELS } from '../../../alerts/groups.ts'
import { stepOf } from '../../../alerts/values-over-time.ts'
import { addressOf } from './address.ts'
import { getCalls, getPastAlerts, getReport, type Alert, type Call, type PastAlert, type Report } from './api.ts'
import type { Chart } from './chart.ts'
import { isoOf, named, unitOf, weekBefore } from './format.ts'
import { parameterTime } from './period.ts'
import { change, current, load, serverTime, type State } from './state.ts'
import { isWhole } from './usage.ts'

/** An alert from when it fired, and its calls by type, mode and receiver type. */
export type AlertPage = {
  /** Undefined if none fired then. */
  alert: PastAlert | undefined
  /** Undefined until they are loaded; null if they could not be. */
  breakdown: Breakdown[] | undefined | null
  /** Its newest calls. */
  calls?: readonly Call[] | undefined
}

type Row = Report['rows'][number]
/**
 * The calls of one type, mode and receiver type that the rule selects, since the values of the alert began to count, and a week
 * before; undefined without any, null if not all calls of that time are known.
 */
export type Breakdown = { now: Row | undefined; lastWeek: Row | undefined | null }

const REFRESH_MS = 30_000
const NEWEST_CALLS = 10
/** Without a time, the address means the newest alert of this long ago. */
const NEWEST = '7d'

/** The address of an alert, from `since` on (ISO 8601). */
export const addressOfAlert = (
  { alert, target, labels }: Pick<Alert, 'alert' | 'target' | 'labels'>,
  since: string | null,
) => addressOf('alert', { target, alert, ...labels, since: since ?? '' })

/** What the address says of an alert. */
export function askedAlert(query: URLSearchParams) {
  // In the order of the address, as a name has them.
  const labels = Object.fromEntries([...query].filter(([name]) => RULE_LABELS.some((label) => label === name)))
  return { target: query.get('target') ?? '', alert: query.get('alert') ?? '', labels }
}

/** The alert of the address as it is now; undefined if it is neither pending nor firing. */
export const liveAlert = ({ snapshot, query }: Pick<State, 'snapshot' | 'query'>) =>
  snapshot?.alerts.find((one) => named(one) === named(askedAlert(query)))

/** The alert that the address names, as the history has it, and as it is now; `other` is one that fires after it has ended. */
export function alertOf(state: State) {
  const alert = state.alertPage.answer?.alert
  const live = liveAlert(state)
  const since = alert?.since ?? state.query.get('since')
  const isSame = since === null || Date.parse(live?.firing_since ?? '') === Date.parse(since)
  return { alert, live: isSame ? live : undefined, other: isSame ? undefined : live }
}

let loadedAt = -Infinity

/** Loads the alert that the address names, and then its calls. Without a time in the address, one that is active has priority. */
export async function loadAlert() {
  loadedAt = performance.now()
  const { query, snapshot } = current()
  const { target, alert } = askedAlert(query)
  const request = query.toString()
  const ask = async () => {
    if (target === '' || alert === '') throw new Error('the address names no alert: it needs target and alert')
    const since = beganOf({ snapshot, query })
    if (since === null) return { alert: undefined, breakdown: undefined }
    const period =
      since === undefined ? { since: NEWEST } : { since: isoOf(since / 1000), until: isoOf(since / 1000 + 1) }
    const { alerts } = await getPastAlerts(new URLSearchParams({ target, alert, ...period }).toString())
    const found = alerts.find(
      (one) => named(one) === named(askedAlert(query)) && (since === undefined || Date.parse(one.since) === since),
    )
    const { answer: before } = current().alertPage
    const same = before?.alert?.since === found?.since ? before : undefined
    return { alert: found, breakdown: same?.breakdown, calls: same?.calls }
  }
  await load('alertPage', request, ask, 'The alert could not be loaded')
  const { answer } = current().alertPage
  const breakdown = await breakdownOf(answer?.alert).catch(() => null)
  const asked = answer?.alert?.calls_url?.split('?')[1]
  const calls = asked === undefined ? [] : await newestOf(asked).catch(() => [])
  const { alertPage } = current()
  if (alertPage.request === request && alertPage.answer === answer && answer !== undefined)
    change({ alertPage: { ...alertPage, answer: { ...answer, breakdown, calls } } })
}

const newestOf = (query: string) => getCalls(`${query}&limit=${NEWEST_CALLS}`).then(({ calls }) => calls)

/** When the alert fired that is meant; undefined for the newest past one, null for one that has not fired yet. */
function beganOf(state: Pick<State, 'snapshot' | 'query'>) {
  const { firing_since: active } = liveAlert(state) ?? {}
  return parameterTime(state.query, 'since', serverTime()) ?? (typeof active === 'string' ? Date.parse(active) : active)
}

/** Reloads the alert until it has ended, while it is visible. @param at by `performance.now()` */
export function refreshAlert(at: number) {
  const { view, snapshot, alertPage } = current()
  if (view !== 'alert' || snapshot === undefined || document.hidden || at - loadedAt < REFRESH_MS) return
  if ((alertPage.answer?.alert?.until ?? null) === null) void loadAlert()
}

/** When the calls finished on which the values of an alert were measured; undefined if it is not about finished calls. */
export function periodOf(alert: PastAlert | undefined) {
  const calls = new URLSearchParams(alert?.calls_url?.split('?')[1])
  const [since, until] = [calls.get('since'), calls.get('until')]
  return since === null || until === null ? undefined : { since, until }
}

async function breakdownOf(alert: PastAlert | undefined): Promise<Breakdown[]> {
  const asked = periodOf(alert)
  if (alert === undefined || asked === undefined) return []
  const { since, until } = asked
  const wanted = { ...alert.match, ...alert.labels }
  const rowsOf = async (at: (time: number) => number) => {
    const earlier = (time: string) => isoOf(at(Date.parse(time) / 1000))
    const period = { since: earlier(since), until: earlier(until) }
    const query = new URLSearchParams({ target: alert.target, ...period, by: RULE_LABELS.join(',') })
    const report = await getReport(query.toString())
    const isSelected = (row: Row) => RULE_LABELS.every((label) => (wanted[label] ?? row[label]) === row[label])
    const byKind = new Map(report.rows.filter(isSelected).map((row) => [kindOf(row), row]))
    return { isKnown: isWhole(report), byKind }
  }
  // One after the other: the server answers few reports at a time.
  const { byKind } = await rowsOf((time) => time)
  return besideLastWeek(byKind, await rowsOf((time) => weekBefore(time)))
}

/** @param lastWeek is left out if not all of its calls are known */
export function besideLastWeek(
  byKind: ReadonlyMap<string, Row>,
  lastWeek: { isKnown: boolean; byKind: ReadonlyMap<string, Row> },
): Breakdown[] {
  if (!lastWeek.isKnown) return [...byKind.values()].map((now) => ({ now, lastWeek: null }))
  const kinds = new Set([...byKind.keys(), ...lastWeek.byKind.keys()])
  return [...kinds].map((kind) => ({ now: byKind.get(kind), lastWeek: lastWeek.byKind.get(kind) }))
}

const kindOf = (row: Row) => RULE_LABELS.map((name) => row[name]).join('|')

/** The value of an alert over time, with its threshold. */
export function valueChart({ signal, alert, breach, threshold, severity, values, until }: PastAlert): Chart {
  const at = values.map(({ at }) => Date.parse(at) / 1000)
  const [from = 0, to = 0] = [at[0], at.at(-1)]
  const step = stepOf(from, to)
  const first = Math.floor(from / step)
  const byStep = new Map(values.map(({ value }, i) => [Math.floor(at[i]! / step) - first, value]))
  const times = Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i) => (first + i) * step)
  return {
    id: 'alert-value',
    title: 'Value',
    about: `Chart of the value of ${alert} over time, with its threshold`,
    times,
    step,
    complete: until === null ? times.length - 1 : times.length,
    // Nothing was evaluated between two values of a target that is polled less often.
    isInstant: true,
    unit: unitOf(signal),
    series: [{ name: 'value', colour: 'first', shape: 'line', values: times.map((_, i) => byStep.get(i) ?? null) }],
    thresholds: [{ name: 'threshold', about: breach, value: threshold, severity }],
  }
}
