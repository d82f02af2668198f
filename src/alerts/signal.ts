import type { z } from 'zod'
import type { Inside } from '../schema/section.ts'
import type { FinalStatus, Labels, OPEN_STATUSES } from '../ledger/call.ts'
import type { FinishedCounts } from '../ledger/finished-calls.ts'
import { formatNumber, formatSeconds, formatShare, plural } from '../text/format.ts'
import type { RuleLabel } from './groups.ts'
import type { Compared } from './relative.ts'
import type { RuleKey, RuleOn } from './rule-keys.ts'
import type { Poll, Trigger } from './trigger.ts'

/** The unit of a signal's value. A share is from 0 to 1; a share of a limit may exceed 1. */
export type Unit = 'calls' | 'share' | 'seconds' | 'minutes'

/** What a signal measures. */
export type Measurement = {
  /** In the signal's unit; NaN if there is nothing to divide by. */
  value: number
  /** How many calls the value is based on; absent if it is not about calls. */
  calls?: number | undefined
  /** The outcomes of the calls behind a ratio. */
  counts?: FinishedCounts | undefined
}

/** The change of an alert that a notification reports. `expired` does not mean resolved: nobody knows whether the breach ended. */
export const CHANGES = ['firing', 'resolved', 'expired'] as const
export type Change = (typeof CHANGES)[number]

/** The value of an alert, as messages use it. */
export type MessageValue = Measurement & {
  kind: Change
  breach: 'above' | 'below'
  /** What the value was compared with: the threshold for a firing alert, `clear` for a resolved one. */
  threshold: number
  /** What a value with `relative_to` is relative to. */
  compared?: Compared | undefined
  /** Minutes by the other formula. */
  otherMinutes?: number | undefined
}

/** A label value with more than its share of the failures: its failures among all failures, its calls among all calls. */
export type Contributor = {
  label: RuleLabel
  value: string
  failures: number
  ofFailures: number
  calls: number
  ofCalls: number
}

/** An open call, and when it began (UNIX seconds by the service's clock). */
export type OldestCall = { session: string; began: number }

/** A window, both ends included (UNIX seconds). */
export type Window = { from: number; to: number }

/** `in_progress`: open, whatever the status. */
export type OpenStatus = (typeof OPEN_STATUSES)[number] | 'in_progress'

type Shape = z.core.$ZodLooseShape

/** A signal in a rule, in the store and in messages: its name and its own keys. */
type Configured<Name extends string, Keys extends Shape> = { name: Name } & Omit<Inside<Keys>, RuleKey>

/** What every signal declares. */
type DeclaredByEachSignal<Name extends string, Keys extends Shape, Signal> = {
  readonly name: Name
  /** What the value is, for the schema and the documentation. */
  readonly description: string
  /** The keys of its rules between `signal` and `for`, in the order in which they are printed. */
  readonly keys: Keys
  readonly unit: Unit
  /** Whether the stored history holds all data that the signal is measured on; default: no. */
  readonly isReplayable?: boolean
  /** Whether `/api/v1/state` shows its value at each poll. */
  readonly isShownInStatus?: boolean
  /** The name of the worst value, instead of `peak`. */
  readonly peakName?: string
  /** What is measured, in a message: `17 of 40 calls that finished in the last 15m failed: 42.5%`. */
  describe(message: MessageValue, signal: Signal): string
  /**
   * When its rules fire, in plain words, without `for`: `more than 30% of the calls finished in 15m failed`.
   *
   * @property values what is measured, said in place of the threshold: `31% to 57%`
   * @property usual the usual share of a rule with `above_usual`, if it is known
   */
  inWords(rule: RuleOn<Signal> & { values?: string; usual?: number | undefined }): string
  /** Formats a value in a message, if the unit alone is not enough. */
  format?(value: number, signal: Signal): string
  /** Whether a message omits the threshold, because the value alone is enough. */
  needsNoThreshold?(message: MessageValue): boolean
}

/** A signal measured on calls: those of a window, or those that are open now. */
export type CallSignal<Name extends string, Keys extends Shape, Signal, Call> = DeclaredByEachSignal<
  Name,
  Keys,
  Signal
> & {
  calls(poll: Poll, window: Window, signal: Signal): readonly Call[]
  measure(calls: readonly Call[], signal: Signal): Measurement
  /** Of a signal in rules with `relative_to`: the value of such a rule. */
  relate?(compared: Compared): number
  /** The statuses of the calls behind a value; absent if the view of calls cannot select them. */
  statuses?(signal: Signal): readonly (FinalStatus | OpenStatus)[]
  /** Further parameters that select them. */
  readonly selects?: Readonly<Record<string, string>>
  /** Whether a value is beyond the threshold with the rule's confidence. */
  isSure?(measurement: Measurement, rule: RuleOn<Signal>): boolean
  /**
   * The top contributor: the label value that is most overrepresented among the failures, if that is statistically
   * significant.
   */
  contributor?(calls: readonly Call[], rule: RuleOn<Signal>): Contributor | undefined
  /** Of a signal of single calls: the one that began first. */
  oldest?(calls: readonly Call[]): OldestCall | undefined
}

/** A signal of the target as a whole, without labels. */
export type TargetSignal<Name extends string, Keys extends Shape, Signal> = DeclaredByEachSignal<Name, Keys, Signal> & {
  /** Undefined if the trigger has no data for it; NaN of too few of what it counts for a result. */
  value(trigger: Trigger, signal: Signal): number | undefined
  /** Whether a value at a poll may be a breach; default: yes. */
  mayBreach?(poll: Poll): boolean
  /** The value that the month will reach at this rate. */
  forecast?(value: number, poll: Poll, signal: Signal): number | undefined
  /** For a budget: the minutes of the month by the formula that its rule does not use; NaN if they are not known. */
  otherMinutes?(poll: Poll, signal: Signal): number
  describeForecast?(forecast: number, signal: Signal): string
}

/**
 * Any signal, for code that looks a signal up by its name. Its methods accept any signal's keys; the name guarantees the
 * right ones.
 */
export type AnySignal =
  | CallSignal<string, Shape, { name: string }, { readonly labels: Labels }>
  | TargetSignal<string, Shape, { name: string }>

/** The part of a rule that belongs to this signal. */
export type ConfiguredAs<Definition extends { name: string; keys: Shape }> = Definition extends unknown
  ? Configured<Definition['name'], Definition['keys']>
  : never

/** How far back a signal reads (seconds); undefined if it measures the present. */
export function windowOf(signal: object): number | undefined {
  return 'window' in signal && typeof signal.window === 'number' ? signal.window : undefined
}

/** How long before a poll the window of a signal ends (seconds). */
export function offsetOf(signal: object): number {
  return 'offset' in signal && typeof signal.offset === 'number' ? signal.offset : 0
}

/** A value for people: `37.5%`, `12 calls`, `5m 30s`, `310.5 min`. */
export function formatIn(unit: Unit, value: number): string {
  if (!Number.isFinite(value)) return 'unknown'
  switch (unit) {
    case 'share':
      return formatShare(value)
    case 'seconds':
      return value < 10 ? `${formatNumber(value)}s` : formatSeconds(value)
    case 'minutes':
      return `${formatNumber(value)} min`
    default:
      return plural(value, 'call')
  }
}

/** A rule's threshold, in words: `more than 30%`, `less than 60s`, `fewer than 10 calls`. @property values says these in its place */
export function beyond(
  { breach, threshold, values }: Pick<RuleOn<unknown>, 'breach' | 'threshold'> & { values?: string },
  unit: Unit,
): string {
  if (values !== undefined) return values
  if (unit === 'calls' && breach === 'above' && threshold === 0) return 'a call'
  if (unit === 'calls' && breach === 'below' && threshold <= 1) return 'no call'
  return `${breach === 'above' ? 'more' : unit === 'calls' ? 'fewer' : 'less'} than ${formatIn(unit, threshold)}`
}

/** `in the last 15m`. */
export function inWindow(signal: object): string {
  return `in the last ${formatSeconds(windowOf(signal) ?? 0)}`
}

/** Whether a value is beyond another one, on the side of the breach. */
export function isBeyond({ breach }: Pick<MessageValue, 'breach'>, value: number, other: number): boolean {
  return breach === 'above' ? value > other : value < other
}

/** What is said of a value within the threshold that has not cleared, or without a threshold of what it measures. */
export const withinText = (breach: MessageValue['breach'], threshold?: string) =>
  `${threshold === undefined ? '' : `no longer ${breach} the threshold of ${threshold}, `}but not resolved yet`

/** The time that `{window}` in a description stands for (seconds). */
export function describedWindow(signal: object): number | undefined {
  return 'longerThan' in signal && typeof signal.longerThan === 'number' ? signal.longerThan : windowOf(signal)
}

/** The number of calls, if some items stand for several calls. */
export function numberOf(calls: readonly object[]): number {
  return sum(calls.map((call) => ('n' in call && typeof call.n === 'number' ? call.n : 1)))
}

/** Measures a signal whose value is the number of calls. */
export function measureNumber(calls: readonly object[]): Measurement {
  return { value: numberOf(calls), calls: numberOf(calls) }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Undefined without a number. */
export function median(numbers: readonly number[]): number | undefined {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return sorted.length === 0 ? undefined : (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

export function callSignal<const Name extends string, Keys extends Shape, Call extends { readonly labels: Labels }>(
  signal: CallSignal<Name, Keys, Configured<Name, Keys>, Call>,
) {
  return signal
}

export function targetSignal<const Name extends string, Keys extends Shape>(
  signal: TargetSignal<Name, Keys, Configured<Name, Keys>>,
) {
  return signal
}
