import { failureCount, failureRatio, windowStart, type Judged } from '../ledger/failure-ratio.ts'
import {
  countByStatus,
  type FinishedCall,
  type FinishedCalls,
  type FinishedCounts,
  type Tally,
} from '../ledger/finished-calls.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import { documentedGroups, groupCalls, instanceKey } from './groups.ts'
import { windowOf, type Rule, type RuleLabels, type Signal } from './rule.ts'
import { wilsonBounds } from './wilson.ts'

/** What rules judge by: a good look, or a tick between looks, at which only the age of the last look is known. */
export type Occasion = Look | { kind: 'tick'; /** Seconds since the last good look. */ pollAge: number }

/** A good look, with all that it changes already counted. Times are UNIX seconds by the service's clock. */
export type Look = {
  kind: 'look'
  judged: Judged
  /** The service did not show all of its list: there may be calls that nobody saw. */
  limited: boolean
  finished: FinishedCalls
  open: readonly TrackedCall[]
  /** When the target was set up: what came before is not known. */
  created: number
  /** Participant minutes counted since a moment. */
  usedSince: (time: number) => number
}

/** From when to when the calendar month of a moment goes in a time zone (UNIX seconds). */
export type MonthOf = (time: number, timezone: string) => { from: number; to: number }

/** A rule's value for one group of calls at one moment. */
export type Reading = Measured & {
  labels: RuleLabels
  /** Whether there were too few calls to say anything. */
  tooFew: boolean
  /** Whether a value past the threshold is a breach: it is sure enough, and there were calls to compare with. */
  mayBreach: boolean
}

/** What a signal makes of its calls. */
export type Measured = {
  /** In the signal's unit; NaN where there is nothing to divide by. */
  value: number
  /** How many calls are behind the value; undefined where it is not about calls. */
  calls: number | undefined
  /** How the calls behind a ratio ended. */
  counts: FinishedCounts | undefined
}

/**
 * What a signal looks at: calls that finished alike, where their number is all that matters; else a finished call, or
 * one that is open.
 */
export type WindowCall = Tally | FinishedCall | TrackedCall

/**
 * What a rule reads on this occasion, by the key of each alert that it can raise; undefined where the occasion says
 * nothing about the rule.
 *
 * @param known groups that are read whether or not there are such calls
 */
export function read(
  rule: Rule,
  occasion: Occasion,
  monthOf: MonthOf,
  known: readonly RuleLabels[],
): Map<string, Reading> | undefined {
  const { signal } = rule
  const single = (value: number) => {
    const measured = { value, calls: undefined, counts: undefined }
    return new Map([[rule.name, { ...measured, labels: {}, tooFew: false, mayBreach: true }]])
  }
  if (signal.name === 'poll_age') return single(occasion.kind === 'tick' ? occasion.pollAge : 0)
  if (occasion.kind === 'tick') return undefined
  if (rule.breach === 'below' && occasion.limited) return undefined
  const { now } = occasion.judged
  if (signal.name === 'budget_minutes') {
    return single(occasion.usedSince(monthOf(now, signal.timezone).from) / signal.limit)
  }
  const from = windowStart(windowOf(signal) ?? 0, occasion.judged)
  const compared = rule.onlyIf && groupCalls(rule, callsBefore(signal, occasion, rule.onlyIf.offset))
  const readings = new Map<string, Reading>()
  // What is not documented may occur once and never again: that there is none of it is no news.
  const expected =
    rule.breach === 'below'
      ? new Set(documentedGroups(rule).map((labels) => instanceKey(rule.name, labels)))
      : undefined
  for (const [key, { labels, calls }] of groupCalls(rule, callsOf(signal, occasion, from, now), known)) {
    if (expected?.has(key) === false) continue
    const measured = measure(signal, calls)
    const before = numberOf(compared?.get(key)?.calls ?? [])
    const mayBreach = before >= (rule.onlyIf?.atLeast ?? 0) && isSure(rule, measured)
    readings.set(key, { ...measured, labels, tooFew: hasTooFew(signal, measured), mayBreach })
  }
  return readings
}

/** The calls that a signal looks at: of a window, both ends included, or those that are open now. */
export function callsOf(
  signal: Signal,
  { finished, open, judged }: Pick<Look, 'finished' | 'open' | 'judged'>,
  from: number,
  to: number,
): readonly WindowCall[] {
  switch (signal.name) {
    case 'in_progress':
      return open
    case 'stuck_calls':
      return open.filter((call) => beganAt(call) < judged.now - signal.longerThan)
    case 'calls_started': {
      const isInside = (began: number) => began >= from && began <= to
      // A call that began in the window finished in it, or after it, or has not yet.
      const over = finished.between(from, Infinity).filter(({ began }) => isInside(began))
      return [...over, ...open.filter((call) => isInside(beganAt(call)))]
    }
    case 'failure_ratio':
    case 'calls':
      return finished.tally(from, to)
    default:
      return finished.between(from, to)
  }
}

export function measure(signal: Signal, calls: readonly WindowCall[]): Measured {
  const over = calls.filter((call) => 'at' in call)
  const of = (value: number, counted: number) => ({ value, calls: counted, counts: undefined })
  switch (signal.name) {
    case 'failure_ratio': {
      const counts = countByStatus(calls.filter((call) => 'n' in call))
      return { value: failureRatio(counts, signal.reason), calls: counts.total, counts }
    }
    case 'minutes':
      return of(sum(over.map(({ audio, video }) => ({ audio, video, both: audio + video })[signal.media])), over.length)
    case 'answer_delay_p95': {
      const delays = over.flatMap(({ answerDelay }) => answerDelay ?? []).toSorted((a, b) => a - b)
      // The nearest rank: the least value that 95 in 100 do not exceed.
      return of(delays[Math.ceil(delays.length * 0.95) - 1] ?? NaN, delays.length)
    }
    case 'duration_mean': {
      const durations = over.flatMap(({ duration }) => duration ?? [])
      return of(sum(durations) / durations.length, durations.length)
    }
    default:
      return of(numberOf(calls), numberOf(calls))
  }
}

/** Whether there are too few calls behind a value for a verdict. */
export function hasTooFew(signal: Signal, { calls = 0 }: Measured): boolean {
  return 'minCalls' in signal && calls < Math.max(1, signal.minCalls)
}

/** The calls of the same window, so many seconds earlier. */
function callsBefore(signal: Signal, look: Look, offset: number): readonly WindowCall[] {
  const to = look.judged.now - offset
  return callsOf(signal, look, to - (windowOf(signal) ?? 0), to)
}

/** Whether a ratio is past the threshold beyond doubt, as far as that is asked for. */
function isSure({ signal, breach, threshold }: Rule, { counts }: Measured): boolean {
  if (signal.name !== 'failure_ratio' || signal.confidence === undefined || counts === undefined) return true
  const { lower, upper } = wilsonBounds(failureCount(counts, signal.reason), counts.total, signal.confidence)
  return breach === 'above' ? lower > threshold : upper < threshold
}

function numberOf(calls: readonly WindowCall[]): number {
  return sum(calls.map((call) => ('n' in call ? call.n : 1)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
