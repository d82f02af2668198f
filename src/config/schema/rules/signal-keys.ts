import { z } from 'zod'
import type { SignalName } from '../../../alerts/rule.ts'
import { duration, seconds } from '../duration.ts'
import { clear, eitherSide, everyRule, labelled, minCalls, named, windowed } from './rule-keys.ts'
import { amount, confidence, oneOf, positive, ratio, timezone } from '../scalars.ts'

const count = () => amount()
const share = () => amount('a share of the limit, 0 or more, such as 0.8')

/** The keys of a rule, signal by signal: only those that make sense for it. */
export const signalKeys = {
  failure_ratio: {
    ...named,
    signal: z.literal('failure_ratio').describe('Share of the calls finished in the window that failed, 0 to 1'),
    reason: oneOf(['any', 'unanswered', 'rejected', 'canceled']).prefault('any').describe('Which failures count'),
    ...labelled,
    ...windowed,
    ...minCalls,
    confidence: confidence().optional().describe('A breach only where the ratio is past the threshold so surely'),
    ...eitherSide(ratio),
    ...everyRule,
  },
  calls: {
    ...named,
    signal: z.literal('calls').describe('Calls that finished in the window'),
    ...labelled,
    ...windowed,
    ...eitherSide(count),
    ...everyRule,
  },
  calls_started: {
    ...named,
    signal: z.literal('calls_started').describe('Calls that began in the window'),
    ...labelled,
    ...windowed,
    ...eitherSide(count),
    ...everyRule,
  },
  minutes: {
    ...named,
    signal: z.literal('minutes').describe('Call-level minutes of the calls that finished in the window'),
    media: oneOf(['audio', 'video', 'both']).prefault('both').describe('Which minutes count'),
    ...labelled,
    ...windowed,
    ...eitherSide(count),
    ...everyRule,
  },
  in_progress: {
    ...named,
    signal: z.literal('in_progress').describe('Open calls now'),
    ...labelled,
    ...eitherSide(count),
    ...everyRule,
  },
  answer_delay_p95: {
    ...named,
    signal: z.literal('answer_delay_p95').describe('The time within which 95 in 100 answered calls were answered'),
    ...labelled,
    ...windowed,
    ...minCalls,
    ...eitherSide(seconds),
    ...everyRule,
  },
  duration_mean: {
    ...named,
    signal: z.literal('duration_mean').describe('The mean duration of the calls that ended in the window'),
    ...labelled,
    ...windowed,
    ...minCalls,
    ...eitherSide(seconds),
    ...everyRule,
  },
  stuck_calls: {
    ...named,
    signal: z.literal('stuck_calls').describe('Calls that have been open for very long'),
    longer_than: duration().prefault('3h').describe('How long a call must have been open'),
    ...labelled,
    above: count().prefault(0).describe('More such calls than this are a breach'),
    clear: clear(count()),
    ...everyRule,
  },
  poll_age: {
    ...named,
    signal: z.literal('poll_age').describe('Time since the last good poll of the target'),
    above: seconds().describe('A longer time is a breach; seconds or a duration'),
    clear: clear(seconds()),
    ...everyRule,
  },
  budget_minutes: {
    ...named,
    signal: z.literal('budget_minutes').describe('Participant minutes of this calendar month, as a share of the limit'),
    limit: positive('a number of minutes above 0').describe('Minutes that a month may have'),
    timezone: timezone().prefault('UTC').describe('Where the month begins and ends'),
    above: share().prefault(1).describe('A larger share of the limit is a breach; may exceed 1'),
    clear: clear(share()),
    ...everyRule,
  },
} satisfies Record<SignalName, z.core.$ZodLooseShape>

/** Why a key of a rule is not accepted for a signal, where it is one of another signal's; undefined elsewhere. */
export function notOf(signal: SignalName, key: string): string | undefined {
  if (!Object.values(signalKeys).some((keys) => Object.hasOwn(keys, key))) return undefined
  if (Object.hasOwn(labelled, key)) return `\`${key}\` is not accepted, because \`${signal}\` has no labels`
  return `\`${key}\` is not accepted for \`${signal}\``
}
