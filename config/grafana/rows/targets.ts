import { graph, healthTimeline } from '../panels.ts'
import { quantiles, T, WINDOW } from '../queries.ts'

export function targets() {
  return [
    healthTimeline({
      title: 'Last look was good',
      about: 'By target. While it is not, nothing is known that is newer.',
      width: 12,
      queries: { '{{target}}': `max by (target) (callwatch_up{${T}})` },
    }),
    graph({
      title: 'Time since the last good look',
      about: 'By target. The dashed lines are four intervals of 15 s, and the shipped rule NoGoodPoll.',
      width: 6,
      unit: 's',
      limits: { warning: 60, bad: 300 },
      queries: { '{{target}}': `time() - max by (target) (callwatch_poll_last_success_timestamp_seconds{${T}})` },
    }),
    graph({
      title: 'Time since the last whole listing',
      about: 'By target; to be compared with poll.sweep_interval (15 min).',
      width: 6,
      unit: 's',
      queries: { '{{target}}': `min by (target) (callwatch_sweep_age_seconds{${T}})` },
    }),
    graph({
      title: 'Polls per minute by outcome',
      about: 'partial and failed ones saw less than all; a skipped one fell into another that took long.',
      width: 8,
      stacked: true,
      colors: { complete: 'green', incremental: 'blue', partial: 'orange', failed: 'red', skipped: 'gray' },
      queries: { '{{outcome}}': `60 * sum by (outcome) (rate(callwatch_polls_total{${T}}[$__rate_interval]))` },
    }),
    graph({
      title: 'Duration of a poll',
      about: 'From the first request to the commit.',
      width: 8,
      unit: 's',
      queries: quantiles('callwatch_poll_duration_seconds', [0.5, 0.95]),
    }),
    graph({
      title: 'Detection lag',
      about: "From a call's end to the moment callwatch knew: about half of poll.interval.",
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
      title: 'API latency, 95 %',
      about: `Time within which 95 in 100 requests of the last ${WINDOW} had their whole answer.`,
      width: 8,
      unit: 's',
      queries: {
        '{{operation}}': `histogram_quantile(0.95, sum by (operation, le) (rate(callwatch_api_request_duration_seconds_bucket{${T}}[${WINDOW}])))`,
      },
    }),
    graph({
      title: 'Rate limit remaining',
      about: "From the service's headers; absent where it sends none.",
      width: 8,
      queries: { '{{target}}': `min by (target) (callwatch_api_ratelimit_remaining{${T}})` },
    }),
    graph({
      title: 'Difference of the clocks',
      about: "How far the service's clock was ahead of the host's when callwatch first met it.",
      width: 8,
      unit: 's',
      queries: { '{{target}}': `max by (target) (callwatch_clock_skew_seconds{${T}})` },
    }),
    graph({
      title: 'Calls remembered',
      about: 'Memory grows by about 430 bytes with each.',
      width: 8,
      queries: { '{{target}}': `max by (target) (callwatch_tracked_calls{${T}})` },
    }),
    graph({
      title: 'Age of the oldest open call',
      about:
        'By target; absent with none open. The dashed lines are half and all of the shipped rule StuckCalls (3 h).',
      width: 8,
      unit: 's',
      limits: { warning: 5400, bad: 10_800 },
      queries: { '{{target}}': `time() - min by (target) (callwatch_oldest_open_call_timestamp_seconds{${T}})` },
    }),
  ]
}
