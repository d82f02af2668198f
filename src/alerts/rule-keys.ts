import type { z } from 'zod'
import { duration } from '../schema/duration.ts'
import { link, nameOfRule, oneOf, ratio, someOf, text, timezone, wholeNumber } from '../schema/scalars.ts'
import { labelMap, section, type Inside } from '../schema/section.ts'
import { RULE_LABELS, type RuleLabel } from './groups.ts'
import { SEVERITIES } from './match-keys.ts'
import { MODES, RECEIVER_TYPES, TYPES } from '../ledger/call.ts'

// Keys that the rules of several signals share, in the order in which they are printed.

/** The label values that the calls service documents, and `other` for the rest. */
export function labelValues() {
  return {
    type: oneOf(TYPES).optional().describe('The type of the call'),
    mode: oneOf(MODES).optional().describe('The mode of the call; only `call` rings'),
    receiver_type: oneOf(RECEIVER_TYPES).optional().describe('Whom the call is for'),
  } satisfies Record<RuleLabel, z.ZodType>
}

export const named = { name: nameOfRule().describe('Name of the rule, in messages and in the label `alert`') }

export const labelled = {
  match: labelMap(labelValues()).prefault({}).describe('Only calls with these labels; default: all'),
  by: someOf(RULE_LABELS).prefault([]).describe('One alert for each combination of these labels'),
}

export const windowed = {
  window: duration().prefault('15m').describe('How far back calls count'),
  only_if: section({
    offset: duration().describe('How much earlier'),
    at_least: wholeNumber(1, 1_000_000_000).describe('Minimum number of calls then'),
  })
    .optional()
    .describe('A breach counts only if the same window, earlier, had enough calls'),
  relative_to: duration({ min: 3600 })
    .optional()
    .describe(
      'The value is relative to the usual one: the median of the same window one to four times so much earlier',
    ),
  min_calls_then: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe('With `relative_to`: minimum number of calls then; default: 20'),
  timezone: timezone().optional().describe("Time zone of days in `relative_to` and `only_if`; default: the daemon's"),
}

export const minCalls = {
  min_calls: wholeNumber(1, 1_000_000_000).prefault(20).describe('Minimum number of calls in the window'),
}

/** The threshold keys of a signal whose high and low values can both be a problem. */
export function eitherSide<Value extends z.ZodType>(value: () => Value, low = value) {
  return {
    above: value().optional().describe('A value above this is a breach'),
    below: low().optional().describe('Instead of above: a value below this is a breach'),
    clear: clear(low()),
  }
}

/** The keys of a share above which is a breach. */
export const aboveShare = { above: ratio().describe('A larger share is a breach'), clear: clear(ratio()) }

export function clear<Value extends z.ZodType>(value: Value) {
  return value.optional().describe('The value at which it is resolved; default: the threshold')
}

export const everyRule = {
  for: duration({ min: 0 }).prefault(0).describe('How long the breach must last'),
  keep_firing_for: duration({ min: 0 }).prefault(0).describe('How long the value must be cleared until it is resolved'),
  repeat: duration({ min: 0 }).prefault('4h').describe('A firing alert is sent again after this long; 0: never'),
  severity: oneOf(SEVERITIES).prefault('warning').describe('How urgent it is'),
  runbook_url: link().optional().describe('Linked in the message'),
  description: text('a text')
    .optional()
    .describe('Shown in the message; may use {value} {threshold} {calls} {window} {labels}'),
}

/** The keys that a rule may have whatever its signal is. */
type Shared = Inside<typeof named & typeof labelled & Pick<typeof windowed, 'only_if'> & typeof everyRule>

/** An alert rule on a signal. Durations and windows are seconds. */
export type RuleOn<Signal> = Omit<Shared, 'by'> & {
  by: readonly RuleLabel[]
  /** The signal's name and its own keys. */
  signal: Signal
  /** On which side of the threshold the problem is. */
  breach: 'above' | 'below'
  threshold: number
  /** A firing alert resolves at or below this (with `below`: at or above). Never beyond the threshold. */
  clear: number
}

/** The keys of a rule that belong to no signal, as the program spells them. */
export type RuleKey = keyof Shared | (typeof THRESHOLDS)[number]

const THRESHOLDS = ['above', 'below', 'clear'] as const
const shared = { ...named, ...labelled, only_if: windowed.only_if, ...everyRule }
export type SharedKey = keyof typeof shared | (typeof THRESHOLDS)[number]

/** The keys of a rule that belong to no signal, as the file spells them. */
export const SHARED_KEYS: ReadonlySet<string> = new Set([...Object.keys(shared), ...THRESHOLDS])
