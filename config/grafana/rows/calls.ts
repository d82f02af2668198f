import { figure, graph } from '../panels.ts'
import { counted, T } from '../queries.ts'

const STATUS_COLORS = { ended: 'green', unanswered: 'orange', rejected: 'red', canceled: 'purple', other: 'gray' }
const REASON_COLORS = { unanswered: 'orange', rejected: 'red', canceled: 'purple' }
/** The thresholds of the shipped rules on the failure ratio. */
const FAILURES = { warning: 0.3, bad: 0.5 }

export function now() {
  const lastGood = `max by (target) (callwatch_poll_last_success_timestamp_seconds{${T}})`
  return [
    figure({
      title: 'Calls in progress',
      about: 'Open calls at the last look.',
      width: 4,
      queries: { calls: `sum(max by (target, type, mode, receiver_type, status) (callwatch_calls_in_progress{${T}}))` },
    }),
    figure({
      title: 'Participants in calls',
      about: 'Participant entries in ongoing calls at the last look.',
      width: 4,
      queries: { participants: `sum(max by (target) (callwatch_participants_in_progress{${T}}))` },
    }),
    figure({
      title: 'Failed, last 15 min',
      about:
        'Share of the finished calls that were unanswered, rejected or canceled, of the target where it is highest. Absent where fewer than five calls finished.',
      width: 4,
      unit: 'percentunit',
      decimals: 1,
      limits: FAILURES,
      noneMeans: 'too few calls',
      queries: { failed: `max(callwatch_call_failure_ratio{window="15m", reason="any", ${T}})` },
    }),
    figure({
      title: 'Finished today',
      about: 'Calls that reached a final status since midnight, in the time zone of the dashboard.',
      width: 4,
      decimals: 0,
      today: true,
      queries: { calls: `sum(increase(${counted('callwatch_calls_total')}[$__range]))` },
    }),
    figure({
      title: 'Participant minutes today',
      about: 'What is billed, since midnight, in the time zone of the dashboard.',
      width: 4,
      decimals: 0,
      today: true,
      queries: { minutes: `sum(increase(${counted('callwatch_participant_minutes_total')}[$__range]))` },
    }),
    figure({
      title: 'Age of these numbers',
      about: 'Time since the last good look, of the target where it is longest ago.',
      width: 4,
      unit: 's',
      decimals: 0,
      limits: { warning: 60, bad: 300 },
      queries: { age: `max(time() - ${lastGood})` },
    }),
  ]
}

export function calls() {
  return [
    graph({
      title: 'In progress by type',
      about: 'Open calls by type and mode.',
      width: 12,
      stacked: true,
      queries: {
        '{{type}} {{mode}}': `sum by (type, mode) (max by (target, type, mode, receiver_type, status) (callwatch_calls_in_progress{${T}}))`,
      },
    }),
    graph({
      title: 'Finished per minute',
      about: 'How calls end.',
      width: 12,
      stacked: true,
      colors: STATUS_COLORS,
      queries: { '{{status}}': `60 * sum by (status) (rate(${counted('callwatch_calls_total')}[$__rate_interval]))` },
    }),
    graph({
      title: 'Failure ratio by reason, 15 min',
      about:
        "Share of the calls that finished in the last 15 minutes, all targets together; the dashed lines are the shipped rules' thresholds for all reasons together. Absent below five calls.",
      width: 12,
      unit: 'percentunit',
      most: 1,
      limits: FAILURES,
      colors: { ...REASON_COLORS, 'all reasons': 'text' },
      queries: {
        'all reasons': failureRatio('reason="any"'),
        '{{reason}}': failureRatio('reason!="any"'),
      },
    }),
    graph({
      title: 'Failure ratio by target, 15 min',
      about: 'As callwatch judges it for alerts that look at all calls of a target.',
      width: 6,
      unit: 'percentunit',
      most: 1,
      limits: FAILURES,
      queries: {
        '{{target}}': `max by (target) (callwatch_call_failure_ratio{window="15m", reason="any", ${T}})`,
      },
    }),
    graph({
      title: 'Calls behind the ratio (n)',
      about: 'Finished calls in the window. A ratio of few calls says little.',
      width: 6,
      queries: { '{{window}}': `sum by (window) (max by (target, window) (callwatch_window_calls{${T}}))` },
    }),
    graph({
      title: 'Started per minute',
      about: 'Calls first seen, by type and mode.',
      width: 12,
      stacked: true,
      queries: {
        '{{type}} {{mode}}': `60 * sum by (type, mode) (rate(${counted('callwatch_calls_started_total')}[$__rate_interval]))`,
      },
    }),
    graph({
      title: 'Failure ratio by window',
      about: 'Whether it is worse than usual: the last 15 minutes against the last hour and day, of the worst target.',
      width: 12,
      unit: 'percentunit',
      most: 1,
      limits: FAILURES,
      queries: { '{{window}}': `max by (window) (callwatch_call_failure_ratio{reason="any", ${T}})` },
    }),
  ]
}

/** Of all targets together: each ratio weighs by its calls; without the targets that have too few to have one. */
function failureRatio(reasons: string): string {
  const ratio = (matcher: string) =>
    `max by (target, reason) (callwatch_call_failure_ratio{window="15m", ${matcher}, ${T}})`
  const calls = `max by (target) (callwatch_window_calls{window="15m", ${T}})`
  const failed = `sum by (reason) (${ratio(reasons)} * on (target) group_left () ${calls})`
  return `${failed} / on () group_left () sum(${calls} and on (target) ${ratio('reason="any"')})`
}
