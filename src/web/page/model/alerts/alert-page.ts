import { capital } from '../../../../text/format.ts'
import { RULE_LABELS } from '../../../../alerts/groups.ts'
import { stepOf, type ValueAt } from '../../../../alerts/values-over-time.ts'
import { FAILURES, failureRatio } from '../../../../ledger/failure-ratio.ts'
import { addressOf } from '../address.ts'
import {
  getCalls,
  getPastAlerts,
  getReport,
  getSeries,
  type Alert,
  type Call,
  type PastAlert,
  type Point,
  type Report,
} from '../api.ts'
import type { Chart } from '../chart.ts'
import { chartsOf, isMissing, periodsOf } from '../chart-series.ts'
import { isoOf, named, unitOf, weekBefore } from '../format.ts'
import { parameterTime } from '../period.ts'
import { change, current, load, serverTime, type State } from '../state.ts'
import { countOf, countsBy, STATUSES, sum } from '../totals.ts'
import { isWhole } from '../usage.ts'

/** An alert from when it fired, and its calls by type, mode and receiver type. */
export type AlertPage = {
  /** Undefined if none fired then. */
  alert: PastAlert | undefined
  /** Undefined until they are loaded; null if they could not be. */
  breakdown: Breakdown | undefined | null
  /** Its newest calls. */
  calls?: readonly Call[]
  /** Its values before and after it fired, as its calls say. */
  around?: readonly ValueAt[]
  /** Of an alert about calls that stay open: all that were open meanwhile. */
  open?: Chart | undefined
}

export type Row = Report['rows'][number]
/**
 * The calls that the rule selects, since the values of the alert began to count, and a week before, each by type, mode and receiver type.
 * `isPart`: not all calls of last week are known.
 */
export type Breakdown = { now: readonly Row[]; lastWeek: readonly Row[]; isPart: boolean }
export const NO_CALLS: Breakdown = { now: [], lastWeek: [], isPart: false }

const REFRESH_MS = 30_000
/** How long before the breach its chart begins, and how long after the end it ends, where calls say the value (seconds). */
const AROUND = 1800
const aroundOf = ({ signal, relative_to_seconds: offset }: PastAlert) =>
  offset === undefined && ['failure_ratio', 'calls_finished'].includes(signal) ? AROUND : 0
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
  const isSame = since === null || secondOf(live?.firing_since) === secondOf(since)
  return { alert, live: isSame ? live : undefined, other: isSame ? undefined : live }
}

/** Commands print times without fractions, so that an address has the second in which the alert fired. */
const secondOf = (time: string | null | undefined) => Math.floor(Date.parse(time ?? '') / 1000)

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
    const second = since === undefined ? undefined : Math.floor(since / 1000)
    const period = second === undefined ? { since: NEWEST } : { since: isoOf(second), until: isoOf(second + 1) }
    const { alerts } = await getPastAlerts(new URLSearchParams({ target, alert, ...period }).toString())
    const found = alerts.find(
      (one) => named(one) === named(askedAlert(query)) && (second === undefined || secondOf(one.since) === second),
    )
    const { answer: before } = current().alertPage
    const same = before?.alert?.since === found?.since ? before : undefined
    return { breakdown: undefined, ...same, alert: found }
  }
  await load('alertPage', request, ask, 'The alert could not be loaded')
  const { answer } = current().alertPage
  if (answer?.alert === undefined) return
  const { calls_url: url } = answer.alert
  const [breakdown, calls, around, open] = await Promise.all([
    breakdownOf(answer.alert).catch(() => null),
    url === undefined ? [] : newestOf(url.split('?')[1]!).catch(() => []),
    valuesAround(answer.alert, breachOf(current())).catch(() => []),
    openDuring(answer.alert, breachOf(current())).catch(() => undefined),
  ])
  const { alertPage } = current()
  if (alertPage.request === request && alertPage.answer === answer)
    change({ alertPage: { ...alertPage, answer: { ...answer, breakdown, calls, around, open } } })
}

const newestOf = (query: string) => getCalls(`${query}&limit=${NEWEST_CALLS}`).then(({ calls }) => calls)

/** When the alert fired that is meant; undefined for the newest past one, null for one that has not fired yet. */
function beganOf(state: Pick<State, 'snapshot' | 'query'>) {
  const { firing_since: active } = liveAlert(state) ?? {}
  return parameterTime(state.query, 'since', serverTime()) ?? (typeof active === 'string' ? Date.parse(active) : active)
}

/** Reloads the alert until its chart has ended, while it is visible. @param at by `performance.now()` */
export function refreshAlert(at: number) {
  const { view, snapshot, alertPage } = current()
  if (view !== 'alert' || snapshot === undefined || document.hidden || at - loadedAt < REFRESH_MS) return
  const alert = alertPage.answer?.alert
  const now = serverTime() / 1000
  if (alert === undefined || chartEnd(alert, now) === now) void loadAlert()
}

/** When the calls finished on which the values of an alert were measured; undefined if it is not about finished calls. */
export function periodOf(alert: PastAlert | undefined) {
  const calls = new URLSearchParams(alert?.calls_url?.split('?')[1])
  const [since, until] = [calls.get('since'), calls.get('until')]
  return since === null || until === null ? undefined : { since, until }
}

/** The receivers that fail, and have not been sent an alert, unless something suppresses it. Not all routes lead to them. */
export const failingFor = (state: State, { notified, until }: PastAlert) =>
  ((alertOf(state).live?.suppressed ?? []).length > 0 ? [] : (state.snapshot?.receivers ?? [])).filter(
    ({ name, failing_since: since }) =>
      since !== undefined && (until === null || since <= until) && !notified.some(({ receiver }) => receiver === name),
  )

/** When the breach began, or the alert fired that has ended: of that nothing else is kept (UNIX seconds). */
export function breachOf(state: State) {
  const { alert, live } = alertOf(state)
  return Date.parse((live ?? alert)?.since ?? '') / 1000
}

/** When the chart of an alert ends (UNIX seconds). */
const chartEnd = (alert: PastAlert, now: number) =>
  alert.until === null ? now : Math.min(now, Date.parse(alert.until) / 1000 + aroundOf(alert))

/** The values that an alert would have had before and after it fired, by the minute, as its calls say; null where nothing is known. */
async function valuesAround(alert: PastAlert, breach: number): Promise<ValueAt[]> {
  if (alert.signal === 'poll_age') return pollsAround(alert)
  if (aroundOf(alert) === 0) return []
  const { target, match, labels, window_seconds: window = 60 } = alert
  const [fired, ended] = [alert.since, alert.until ?? ''].map((time) => Date.parse(time) / 1000)
  const [from, to] = [breach - AROUND, alert.until === null ? fired! : chartEnd(alert, serverTime() / 1000)]
  const period = { since: isoOf(from - window), until: isoOf(to), step: '60' }
  const series = await getSeries(new URLSearchParams({ target, ...match, ...labels, ...period }).toString())
  return series.points.flatMap((point, i): ValueAt[] => {
    const at = Date.parse(point.at) / 1000 + 60
    if (at < from || at > to || !(at < fired! || at > ended!)) return []
    const minutes = series.points.slice(Math.max(0, i + 1 - window / 60), i + 1)
    return [[at, isMissing(point, series, [target]) ? null : valueIn(alert, minutes)]]
  })
}

/** The polls before and after a time without any, when the age of the last one was nothing. */
function pollsAround({ values: [first], outcome, until }: PastAlert): ValueAt[] {
  if (first === undefined || first.value === null) return []
  const last = Date.parse(first.at) / 1000 - first.value
  return [[last, 0], ...(outcome === 'resolved' && until !== null ? [[Date.parse(until) / 1000, 0] as const] : [])]
}

/** The open calls that an alert about those that stay open selects, from before the first of them could have been one. */
async function openDuring(alert: PastAlert, breach: number): Promise<Chart | undefined> {
  const { signal, target, match, labels, until, longer_than_seconds: longer = 0 } = alert
  if (signal !== 'stuck_calls') return undefined
  const now = serverTime() / 1000
  const period = { since: isoOf(breach - Math.max(AROUND, longer)), until: until ?? isoOf(now) }
  const series = await getSeries(new URLSearchParams({ target, ...match, ...labels, ...period }).toString())
  const charts = chartsOf({ series, targets: [{ name: target, rules: [] }], query: new URLSearchParams(), now })
  const chart = charts.find(({ id }) => id === 'chart-in-progress')
  return chart && { ...chart, id: 'alert-open' }
}

/** The failure ratio or the number of calls in a window of minutes; null with too few calls. */
export function valueIn(alert: PastAlert, minutes: readonly Point[]) {
  const { signal, reason = 'any', min_calls: least = 1 } = alert
  const counts = countsBy(STATUSES, (status) => sum(minutes, ({ calls }) => calls[status]))
  const total = sum(STATUSES, (status) => counts[status])
  if (signal === 'calls_finished') return total
  return total < least ? null : failureRatio({ ...counts, total }, reason)
}

async function breakdownOf(alert: PastAlert): Promise<Breakdown> {
  const asked = periodOf(alert)
  if (asked === undefined) return NO_CALLS
  const labels = { ...alert.match, ...alert.labels }
  const rowsOf = async (at: (time: number) => number) => {
    const [since, until] = [asked.since, asked.until].map((time) => isoOf(at(Date.parse(time) / 1000)))
    const query = new URLSearchParams({ target: alert.target, since: since!, until: until!, by: RULE_LABELS.join(',') })
    const report = await getReport(query.toString())
    const isSelected = (row: Row) => RULE_LABELS.every((label) => (labels[label] ?? row[label]) === row[label])
    return { rows: report.rows.filter(isSelected), isPart: !isWhole(report) }
  }
  // One after the other: the server answers few reports at a time.
  const { rows: now } = await rowsOf((time) => time)
  const { rows: lastWeek, isPart } = await rowsOf((time) => weekBefore(time))
  return { now, lastWeek, isPart }
}

/** The row of the same type, mode and receiver type. */
export const rowLike = (rows: readonly Row[], like: Row) =>
  rows.find((row) => RULE_LABELS.every((name) => row[name] === like[name]))

/** How many calls of a row failed for the reason of an alert. */
export const failedOf =
  ({ reason = 'any' }: Pick<PastAlert, 'reason'>) =>
  (row: Row | undefined) =>
    countOf(row, reason === 'any' ? FAILURES : [reason])

/** An alert as its chart shows it: with its values around it, as it is now, and when the breach began (UNIX seconds). */
type Shown = { alert: PastAlert; around: AlertPage['around']; live: Alert | undefined; breach: number; now: number }

/** The value of an alert with `relative_to` while all is as usual, by its unit. */
const USUAL: Readonly<Record<string, number>> = { relative: 1, difference: 0 }

/**
 * The value of an alert over time with its threshold, from before the breach until after the end, or now: each where it was evaluated. The
 * line has a gap where calls were too few or the target was not seen, and none only because the target is polled less often.
 */
export function valueChart({ alert, around = [], live, breach, now }: Shown): Chart {
  const { signal, threshold, severity, values, until } = alert
  const unit = unitOf(alert)
  const usual = USUAL[unit]
  const own = values.map(({ at, value }): ValueAt => [Date.parse(at) / 1000, value])
  const ends = [breach - aroundOf(alert), chartEnd(alert, now)].map((at): ValueAt => [at, null])
  const unseen = alert.blind.map((one): ValueAt => [(Date.parse(one.since) + Date.parse(one.until)) / 2000, null])
  const points = [...new Map([...ends, ...around, ...unseen, ...own])].toSorted(([a], [b]) => a - b)
  const clear = live && { name: 'clears', about: 'at', value: live.clear, severity: 'other' }
  return {
    id: 'alert-value',
    title: capital(signal.replaceAll('_', ' ')),
    times: points.map(([at]) => at),
    step: stepOf(own[0]?.[0] ?? 0, own.at(-1)?.[0] ?? 0),
    complete: until === null ? points.length - 1 : points.length,
    isInstant: true,
    unit,
    series: [{ name: 'value', colour: 'first', shape: 'line', values: points.map(([, value]) => value) }],
    thresholds: [
      { name: 'threshold', about: alert.breach, value: threshold, severity },
      ...(clear && clear.value !== threshold ? [clear] : []),
      ...(usual === undefined ? [] : [{ name: 'expected', about: 'at', value: usual, severity: 'other' }]),
    ],
    blind: periodsOf(alert.blind),
  }
}
