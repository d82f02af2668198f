import type { z } from 'zod'
import { callLabels, labelValues } from './call-labels.ts'
import { duration } from '../duration.ts'
import { link, nameOfRule, oneOf, someOf, text, wholeNumber } from '../scalars.ts'
import { labelMap, section } from '../section.ts'

// Keys that the rules of several signals share, in the order in which they are printed.

export const named = { name: nameOfRule().describe('Name of the rule, shown in messages and in the label `alert`') }

export const labelled = {
  match: labelMap(labelValues()).prefault({}).describe('Only calls with these labels; default: all'),
  by: someOf(callLabels).prefault([]).describe('One alert for each combination of values of these labels'),
}

export const windowed = {
  window: duration().prefault('15m').describe('How far back calls are looked at'),
  only_if: section({
    offset: duration().describe('How much earlier the window lies that is compared with'),
    at_least: wholeNumber(1, 1_000_000_000).describe('How many calls there must have been in it'),
  })
    .optional()
    .describe('A breach counts only if the same window, so much earlier, had as many calls'),
}

export const minCalls = {
  min_calls: wholeNumber(1, 1_000_000_000).prefault(20).describe('With fewer calls in the window there is no verdict'),
}

/** Of a signal that is in trouble when it is high as well as when it is low. */
export function eitherSide<Value extends z.ZodType>(value: () => Value) {
  return {
    above: value().optional().describe('A value above this is a breach'),
    below: value().optional().describe('In place of above: a value below this is a breach'),
    clear: clear(value()),
  }
}

export function clear<Value extends z.ZodType>(value: Value) {
  return value.optional().describe('Resolved only once back at this or past it; default: the threshold')
}

export const everyRule = {
  for: duration({ min: 0 }).prefault(0).describe('How long the breach must last; 0: alert at once'),
  keep_firing_for: duration({ min: 0 })
    .prefault(0)
    .describe('How long the value must stay past `clear` until the alert is resolved; 0: at once'),
  repeat: duration({ min: 0 }).prefault('4h').describe('A firing alert is told again after this long; 0: never'),
  severity: oneOf(['critical', 'warning', 'info']).prefault('warning').describe('How urgent it is'),
  runbook_url: link().optional().describe('Linked in the message'),
  description: text('a text')
    .optional()
    .describe('Shown in the message; may use {value} {threshold} {calls} {window} {labels}'),
}
