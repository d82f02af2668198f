import { stat, graph } from '../panels.ts'
import { during, selected, T } from '../queries.ts'

const STATUS_COLORS = { ended: 'green', unanswered: 'orange', rejected: 'red', canceled: 'purple', other: 'gray' }
const REASON_COLORS = { unanswered: 'orange', rejected: 'red', canceled: 'purple' }
/** The thresholds of the shipped rules on the failure ratio. */
const FAILURES = { warning: 0.3, bad: 0.5 }

export function now() {
  const lastSuccess = `max by (target) (callwatch_poll_last_success_timestamp_seconds{${T}})`
  return [
    stat({
      title: 'Calls in progress',
      about: 'Open calls at the last poll.',
      width: 4,
      queries: { calls: `sum(${selected('callwatch_calls_in_progress')})` },
    }),
    stat({
      title: 'Participants in calls',
      about: 'Participant entries in ongoing calls at the last poll.',
      width: 4,
      queries: { participants: `sum(max by (target) (callwatch_participants_in_progress{${T}}))` },
    }),
    stat({
      title: 'Failed, last 15 min',
      about:
        'The highest failure ratio that a rule compares with its threshold, with the name of the rule and the target. Absent if all of them have too few calls.',
      width: 4,
      unit: 'percentunit',
      decimals: 1,
      limits: FAILURES,
      noValue: 'too few calls',
      queries: {
        '{{alert}} {{target}}': `topk(1, max by (alert, target) (callwatch_rule_value{signal="failure_ratio", ${T}}))`,
      },
    }),
    stat({
      title: 'Finished today',
      about: 'Calls that reached a final status since midnight in the time zone of the dashboard.',
      width: 4,
      decimals: 0,
      today: true,
      queries: { calls: `sum(increase(${during('$__range', 'callwatch_calls_total')}))` },
    }),
    stat({
      title: 'Participant minutes today',
      about: 'Participant minutes since midnight in the time zone of the dashboard.',
      width: 4,
      decimals: 0,
      today: true,
      queries: { minutes: `sum(increase(${during('$__range', 'callwatch_participant_minutes_total')}))` },
    }),
    stat({
      title: 'Age of these numbers',
      about: 'Time since the last successful poll, for the target with the oldest one.',
      width: 4,
      unit: 's',
      decimals: 0,
      limits: { warning: 60, bad: 300 },
      queries: { age: `max(time() - ${lastSuccess})` },
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
      calls: { type: 'type', mode: 'mode' },
      queries: {
        '{{type}} {{mode}}': `sum by (type, mode) (${selected('callwatch_calls_in_progress')})`,
      },
    }),
    graph({
      title: 'Finished per minute',
      about: 'Finished calls by final status.',
      width: 12,
      stacked: true,
      colors: STATUS_COLORS,
      calls: { status: 'status' },
      queries: { '{{status}}': `60 * sum by (status) (rate(${during('$__rate_interval', 'callwatch_calls_total')}))` },
    }),
    graph({
      title: 'Failure ratio by reason, 15 min',
      about:
        'Share of the calls of all targets that finished in the last 15 minutes. The dashed lines are the thresholds of the shipped rules for all reasons together. Absent below five calls.',
      width: 12,
      unit: 'percentunit',
      max: 1,
      limits: FAILURES,
      colors: { ...REASON_COLORS, 'all reasons': 'text' },
      queries: {
        'all reasons': failureRatio('reason="any"'),
        '{{reason}}': failureRatio('reason!="any"'),
      },
    }),
    graph({
      title: 'Failure ratio by target, 15 min',
      about: 'As the rules of callwatch evaluate it for all calls of a target.',
      width: 6,
      unit: 'percentunit',
      max: 1,
      limits: FAILURES,
      calls: { target: 'target' },
      queries: {
        '{{target}}': `max by (target) (callwatch_call_failure_ratio{window="15m", reason="any", ${T}})`,
      },
    }),
    graph({
      title: 'Calls in the ratio',
      about: 'Finished calls in the window. A ratio of few calls is not significant.',
      width: 6,
      queries: { '{{window}}': `sum by (window) (max by (target, window) (callwatch_window_calls{${T}}))` },
    }),
    graph({
      title: 'Started per minute',
      about: 'New calls by type and mode.',
      width: 12,
      stacked: true,
      calls: { type: 'type', mode: 'mode' },
      queries: {
        '{{type}} {{mode}}': `60 * sum by (type, mode) (rate(${during('$__rate_interval', 'callwatch_calls_started_total')}))`,
      },
    }),
    graph({
      title: 'Failure ratio by window',
      about: 'The last 15 minutes compared with the last hour and day, for the target with the highest ratio.',
      width: 12,
      unit: 'percentunit',
      max: 1,
      limits: FAILURES,
      queries: { '{{window}}': `max by (window) (callwatch_call_failure_ratio{reason="any", ${T}})` },
    }),
  ]
}

/** The ratio of all targets, each weighted by its calls. Targets with too few calls for a ratio are left out. */
function failureRatio(reasons: string): string {
  const ratio = (matcher: string) =>
    `max by (target, reason) (callwatch_call_failure_ratio{window="15m", ${matcher}, ${T}})`
  const calls = `max by (target) (callwatch_window_calls{window="15m", ${T}})`
  const failed = `sum by (reason) (${ratio(reasons)} * on (target) group_left () ${calls})`
  return `${failed} / on () group_left () sum(${calls} and on (target) ${ratio('reason="any"')})`
}
