import type { z } from 'zod'
import type { ruleSchema } from './rule.ts'

/** The rules that apply if the file has no `alerts`, in the file's own form. */
export const defaultRules: z.input<typeof ruleSchema>[] = [
  {
    name: 'HighFailureRate',
    signal: 'failure_ratio',
    // Meetings do not ring, so no meeting can be unanswered.
    match: { mode: 'call' },
    window: '15m',
    min_calls: 20,
    // By chance, an app with few calls would often be above the usual.
    confidence: 0.99,
    above: 0.3,
    clear: 0.2,
    above_usual: 0.15,
    for: '2m',
    keep_firing_for: '5m',
    severity: 'warning',
    description:
      'Many callers did not get through: {value} of the {calls} ringing calls that finished in the last {window} were unanswered, ' +
      'rejected or canceled.',
  },
  {
    name: 'VeryHighFailureRate',
    signal: 'failure_ratio',
    match: { mode: 'call' },
    window: '15m',
    min_calls: 20,
    confidence: 0.99,
    above: 0.5,
    clear: 0.4,
    above_usual: 0.3,
    for: '2m',
    keep_firing_for: '5m',
    severity: 'critical',
    description:
      'Most callers did not get through: {value} of the {calls} ringing calls that finished in the last {window} were unanswered, ' +
      'rejected or canceled.',
  },
  {
    name: 'NoCalls',
    signal: 'calls_finished',
    window: '1h',
    only_if: { offset: '7d', at_least: 5 },
    below: 1,
    severity: 'warning',
    description:
      'No call has finished in the last {window}, although there were some at this time a week ago: perhaps nobody can ' +
      'call.',
  },
  {
    name: 'FewerCalls',
    signal: 'calls_finished',
    window: '1h',
    relative_to: '7d',
    min_calls_then: 40,
    below: 0.5,
    clear: 0.6,
    for: '10m',
    keep_firing_for: '10m',
    severity: 'warning',
    description:
      'Fewer calls than usual have finished in the last {window}: perhaps some users cannot call, or an app that makes many calls is ' +
      'down.',
  },
  {
    name: 'RingingTooLong',
    signal: 'stuck_calls',
    status: 'initiated',
    match: { mode: 'call' },
    longer_than: '5m',
    above: 0,
    severity: 'warning',
    description:
      'Calls have been ringing for more than five minutes: perhaps their end was never reported. While a call is open, its users ' +
      'may not be able to begin another one.',
  },
  {
    name: 'StuckCalls',
    signal: 'stuck_calls',
    // A meeting may well take longer.
    match: { mode: 'call' },
    longer_than: '3h',
    above: 0,
    severity: 'warning',
    description:
      'Calls that began more than three hours ago are still open: perhaps they were never ended, and cost minutes for ' +
      'as long as they last.',
  },
  {
    name: 'NoGoodPoll',
    signal: 'poll_age',
    above: '5m',
    severity: 'critical',
    description: 'callwatch cannot read the calls service. Until it can, no alert about calls begins or ends.',
  },
  {
    name: 'ServiceErrors',
    signal: 'request_errors',
    window: '15m',
    min_requests: 20,
    above: 0.25,
    clear: 0.1,
    for: '2m',
    keep_firing_for: '5m',
    severity: 'warning',
    description:
      'The calls service did not answer {value} of the requests of the last {window}. Apps that call the service may meet the ' +
      'same errors.',
  },
]
