import { confidence, oneOf, ratio, shareOrDifference } from '../../schema/scalars.ts'
import { FAILURES, failureCount, failureRatio as ratioOf, REASONS, type Reason } from '../../ledger/failure-ratio.ts'
import { countByStatus, type Tally } from '../../ledger/finished-calls.ts'
import { callsWith, formatNumber, formatShare, plural } from '../../text/format.ts'
import { labelValue, RULE_LABELS } from '../groups.ts'
import { eitherSide, labelled, minCalls, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow, type Contributor } from '../signal.ts'
import { usualText } from '../usual.ts'
import { wilsonBounds } from '../wilson.ts'

export const failureRatio = callSignal({
  name: 'failure_ratio',
  description: 'Share of the calls finished in the window that failed',
  keys: {
    reason: oneOf(REASONS).prefault('any').describe('Which failures count'),
    ...labelled,
    ...windowed,
    ...minCalls,
    confidence: confidence().optional().describe('Confidence that the ratio is beyond the threshold, such as 0.95'),
    ...eitherSide(ratio, shareOrDifference),
    above_usual: ratio()
      .optional()
      .describe('The ratio must also be this much above the usual one, that of the last seven days'),
  },
  unit: 'share',
  isReplayable: true,
  isShownInStatus: true,

  calls: ({ finished }, { from, to }) => finished.tally(from, to),
  statuses: ({ reason }) => (reason === 'any' ? FAILURES : [reason]),
  measure: (calls, { reason }) => {
    const counts = countByStatus(calls)
    return { value: ratioOf(counts, reason), calls: counts.total, counts }
  },
  isSure: ({ counts }, { signal, breach, threshold }) => {
    if (signal.confidence === undefined || counts === undefined) return true
    const { lower, upper } = wilsonBounds(failureCount(counts, signal.reason), counts.total, signal.confidence)
    return breach === 'above' ? lower > threshold : upper < threshold
  },
  contributor: (calls, { signal, match, by }) => {
    // Only calls that ring can fail: the mode explains nothing.
    const open = RULE_LABELS.filter((label) => label !== 'mode' && match[label] === undefined && !by.includes(label))
    const candidates = open.flatMap((label) => {
      const values = Map.groupBy(calls, ({ labels }) => labelValue(labels, label))
      return values.size < 2
        ? []
        : [...values].map(([value, inside]) => ({ label, value, ...failuresAmong(inside, signal.reason) }))
    })
    const { failures: ofFailures, calls: ofCalls } = failuresAmong(calls, signal.reason)
    const [first] = candidates
      .map((one) => ({ ...one, ofFailures, ofCalls }))
      .filter(saysSomething)
      .toSorted((a, b) => liftOf(b) - liftOf(a) || b.failures - a.failures)
    return first
  },

  describe: ({ value, counts, calls = counts?.total ?? 0 }, signal) => {
    const failures = counts === undefined ? Math.round(value * calls) : failureCount(counts, signal.reason)
    const failed = signal.reason === 'any' ? 'failed' : `were ${signal.reason}`
    const is = formatIn('share', value)
    return `${formatNumber(failures)} of ${plural(calls, 'call')} that finished ${inWindow(signal)} ${failed}: ${is}`
  },
  inWords: (rule) =>
    `${beyond(rule, 'share')} of the ${callsWith(rule.match)} ${inWindow(rule.signal)} ${rule.signal.reason === 'any' ? 'failed' : `were ${rule.signal.reason}`}${usualText(rule)} (at least ${plural(rule.signal.minCalls, 'call')}${sureText(rule.signal)})`,
})

/** `, with 99% confidence`; empty of a rule without. */
const sureText = ({ confidence }: { confidence?: number | undefined }) =>
  confidence === undefined ? '' : `, with ${formatShare(confidence)} confidence`

/** The confidence with which a share of the failures must exceed the share of the calls. */
const LIFT_CONFIDENCE = 0.95

/** Fewer failures prove nothing. */
const MIN_FAILURES = 3

function saysSomething(one: Contributor): boolean {
  return one.failures >= MIN_FAILURES && liftOf(one) > 1
}

/**
 * At least by which factor its share of the failures exceeds its share of the calls. A lower bound, since few failures prove
 * little.
 */
function liftOf({ failures, ofFailures, calls, ofCalls }: Contributor): number {
  return wilsonBounds(failures, ofFailures, LIFT_CONFIDENCE).lower / (calls / ofCalls)
}

function failuresAmong(calls: readonly Tally[], reason: Reason) {
  const counts = countByStatus(calls)
  return { failures: failureCount(counts, reason), calls: counts.total }
}
