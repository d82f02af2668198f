import { graph, healthTimeline } from '../panels.ts'
import { quantiles, selected, T, WINDOW } from '../queries.ts'

export function targets() {
  return [
    healthTimeline({
      title: 'Last poll successful',
      about: 'By target. During an outage the other panels show the values of the last successful poll.',
      width: 12,
      queries: { '{{target}}': `max by (target) (callwatch_up{${T}})` },
    }),
    graph({
      title: 'Time since the last successful poll',
      about:
        'By target. The dashed lines are four intervals of 15 s, and the threshold of the shipped rule NoGoodPoll.',
      width: 6,
      unit: 's',
      limits: { warning: 60, bad: 300 },
      queries: { '{{target}}': `time() - max by (target) (callwatch_poll_last_success_timestamp_seconds{${T}})` },
    }),
    graph({
      title: 'Time since the last complete sweep',
      about: 'By target. Compare it with poll.sweep_interval, by default 15 min.',
      width: 6,
      unit: 's',
      queries: { '{{target}}': `min by (target) (callwatch_sweep_age_seconds{${T}})` },
    }),
    graph({
      title: 'Polls per minute by outcome',
      about:
        'Partial and failed polls did not read all that they needed. A poll is skipped while the previous one is running.',
      width: 8,
      stacked: true,
      colors: { complete: 'green', incremental: 'blue', partial: 'orange', failed: 'red', skipped: 'gray' },
      queries: { '{{outcome}}': `60 * sum by (outcome) (rate(callwatch_polls_total{${T}}[$__rate_interval]))` },
    }),
    graph({
      title: 'Poll duration',
      about: 'From the first request to the commit.',
      width: 8,
      unit: 's',
      queries: quantiles('callwatch_poll_duration_seconds', [0.5, 0.95]),
    }),
    graph({
      title: 'Detection lag',
      about: 'Time from the end of a call until a poll found it finished, usually about half of poll.interval.',
      width: 8,
      unit: 's',
      queries: quantiles('callwatch_detection_lag_seconds', [0.5, 0.95]),
    }),
    graph({
      title: 'API requests per minute',
      about: 'By operation and HTTP code, or timeout, network, invalid.',
      width: 8,
      queries: {
        '{{operation}} {{code}}': `60 * sum by (operation, code) (rate(callwatch_api_requests_total{${T}}[$__rate_interval]))`,
      },
    }),
    graph({
      title: 'API latency, 95th percentile',
      about: `Duration of the requests of the last ${WINDOW}, including the response body.`,
      width: 8,
      unit: 's',
      queries: {
        '{{operation}}': `histogram_quantile(0.95, sum by (operation, le) (rate(callwatch_api_request_duration_seconds_bucket{${T}}[${WINDOW}])))`,
      },
    }),
    graph({
      title: 'Rate limit remaining',
      about: 'Requests left, from response headers. Absent if the service sends none.',
      width: 8,
      queries: { '{{target}}': `min by (target) (callwatch_api_ratelimit_remaining{${T}})` },
    }),
    graph({
      title: 'Clock skew',
      about: "How far the service's clock was ahead of the host's clock when callwatch measured it.",
      width: 8,
      unit: 's',
      queries: { '{{target}}': `max by (target) (callwatch_clock_skew_seconds{${T}})` },
    }),
    graph({
      title: 'Tracked calls',
      about: 'Each call needs about 430 bytes of memory.',
      width: 8,
      queries: { '{{target}}': `max by (target) (callwatch_tracked_calls{${T}})` },
    }),
    graph({
      title: 'Age of the oldest open call',
      about:
        'By target; absent without open calls. The dashed lines are half of the limit of the shipped rule StuckCalls (3 h), and the limit.',
      width: 8,
      unit: 's',
      limits: { warning: 5400, bad: 10_800 },
      calls: { target: 'target' },
      queries: {
        '{{target}}': `time() - min by (target) (${selected('callwatch_oldest_open_call_timestamp_seconds')})`,
      },
    }),
  ]
}
