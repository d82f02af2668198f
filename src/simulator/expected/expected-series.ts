import type { LedgerEvent } from '../calls/ledger.ts'
import { countedCalls, labelsOf, type CountedCall, type CountOptions } from './counted-calls.ts'

/** Values by series, in Prometheus' text form, with labels sorted by name and without the label `target`. */
export type Series = Map<string, number>

/** The text of one series. Label values may contain any character. */
export function seriesName(metric: string, labels: Record<string, string>): string {
  const names = Object.keys(labels).toSorted()
  if (names.length === 0) return metric
  return `${metric}{${names.map((name) => `${name}="${escaped(labels[name]!)}"`).join(',')}}`
}

/** Adds to the value of a series, which starts at 0. */
export function addTo(series: Series, metric: string, labels: Record<string, string>, value: number): void {
  const name = seriesName(metric, labels)
  series.set(name, (series.get(name) ?? 0) + value)
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

const DURATION_BUCKETS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200]
const ANSWER_DELAY_BUCKETS = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90]
const PARTICIPANTS_BUCKETS = [1, 2, 3, 4, 6, 8, 12, 25, 50]

/** The metrics whose series `expectedSeries` returns: those that semantics.md calls exact. */
export const exactFamilies = [
  'callwatch_calls_started_total',
  'callwatch_calls_total',
  'callwatch_calls_in_progress',
  'callwatch_calls_recorded_total',
  'callwatch_invited_total',
  'callwatch_call_minutes_total',
  'callwatch_participant_minutes_total',
  'callwatch_call_duration_seconds',
  'callwatch_call_answer_delay_seconds',
  'callwatch_call_participants',
]

type Labels = Record<string, string>

/**
 * All exact series that a correct daemon exports at `now`, computed only from what happened (semantics.md, Three kinds of
 * numbers). Minutes of open calls are those that the service shows at `now`. Series with the value 0 are left out.
 */
export function expectedSeries(events: readonly LedgerEvent[], options: CountOptions): Series {
  const series: Series = new Map()
  for (const call of countedCalls(events, options)) {
    addTo(series, 'callwatch_calls_started_total', labelsOf(call.first), 1)
    addMinutes(series, call.last)
    if (call.final) addFinish(series, call, call.final)
    else addTo(series, 'callwatch_calls_in_progress', { ...labelsOf(call.last), status: call.last.status }, 1)
  }
  for (const [name, value] of series) if (value === 0) series.delete(name)
  return series
}

function addMinutes(series: Series, event: LedgerEvent): void {
  for (const media of ['audio', 'video'] as const) {
    addTo(series, 'callwatch_call_minutes_total', { ...labelsOf(event), media }, event.callMinutes[media])
    addTo(series, 'callwatch_participant_minutes_total', { media }, event.participantMinutes[media])
  }
}

function addFinish(series: Series, { last }: CountedCall, final: LedgerEvent): void {
  const labels = labelsOf(final)
  const { status, initiatedAt, startedAt, endedAt } = final
  addTo(series, 'callwatch_calls_total', { ...labels, status }, 1)
  const { joined, absent } = last.invited ?? { joined: 0, absent: 0 }
  for (const [outcome, n] of Object.entries({ joined, absent, unknown: last.invited === undefined ? 1 : 0 }))
    addTo(series, 'callwatch_invited_total', { ...labels, outcome }, n)
  if (last.recorded) addTo(series, 'callwatch_calls_recorded_total', {}, 1)
  observe(series, 'callwatch_call_participants', PARTICIPANTS_BUCKETS, labels, final.participants)
  if (status !== 'ended' || startedAt === undefined) return
  if (endedAt !== undefined) {
    observe(series, 'callwatch_call_duration_seconds', DURATION_BUCKETS, labels, endedAt - startedAt)
  }
  if (initiatedAt !== undefined) {
    const { mode: _mode, ...rest } = labels
    observe(series, 'callwatch_call_answer_delay_seconds', ANSWER_DELAY_BUCKETS, rest, startedAt - initiatedAt)
  }
}

/** Adds a value to a histogram. A negative time is not counted. */
function observe(series: Series, metric: string, buckets: number[], labels: Labels, value: number): void {
  if (value < 0) return
  for (const le of [...buckets, Infinity]) {
    const text = le === Infinity ? '+Inf' : String(le)
    addTo(series, `${metric}_bucket`, { ...labels, le: text }, value <= le ? 1 : 0)
  }
  addTo(series, `${metric}_sum`, labels, value)
  addTo(series, `${metric}_count`, labels, 1)
}

type FailureReason = 'any' | 'unanswered' | 'rejected' | 'canceled'

/**
 * `ratio` is from 0 to 1, by reason; absent for fewer than five finished calls. It may be off by `tolerance`, because of calls that
 * failed without `endedAt` and rang when the window began.
 */
type FailureRatio = { calls: number; ratio?: Record<FailureReason, number>; tolerance: number }

const MIN_CALLS = 5

/**
 * The share of failed calls among the calls that finished in a window (semantics.md, Failure ratio).
 *
 * @param from UNIX seconds, included; the window ends at `options.now`, included
 */
export function failureRatio(events: readonly LedgerEvent[], options: CountOptions & { from: number }): FailureRatio {
  const { from, now } = options
  const finished = countedCalls(events, options).filter((call) => (finishedAt(call, now) ?? -Infinity) >= from)
  const calls = finished.length
  const rang = finished.filter(
    ({ final }) => final!.endedAt === undefined && (final!.initiatedAt ?? from) < from,
  ).length
  const tolerance = rang / Math.max(1, calls - rang)
  if (calls < MIN_CALLS) return { calls, tolerance }
  const share = (...reasons: string[]): number =>
    finished.filter(({ final }) => reasons.includes(final!.status)).length / calls
  return {
    calls,
    ratio: {
      any: share('unanswered', 'rejected', 'canceled'),
      unanswered: share('unanswered'),
      rejected: share('rejected'),
      canceled: share('canceled'),
    },
    tolerance,
  }
}

/** `endedAt`, limited to the time from the call's start to now. Without one, when the call became final. */
function finishedAt({ first, final }: CountedCall, now: number): number | undefined {
  if (!final) return undefined
  const { initiatedAt, startedAt, endedAt, at } = final
  const began = initiatedAt ?? startedAt ?? endedAt ?? first.at
  return Math.min(Math.max(endedAt ?? at, began), now)
}
