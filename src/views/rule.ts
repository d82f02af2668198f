import * as z from 'zod'
import { definitionOf } from '../alerts/definition-of.ts'
import { RULE_LABELS } from '../alerts/groups.ts'
import { latestValues, type EvaluatedLedger } from '../alerts/latest-values.ts'
import { SEVERITIES } from '../alerts/match-keys.ts'
import { SHARED_KEYS, type SharedKey } from '../alerts/rule-keys.ts'
import type { Rule } from '../alerts/rule.ts'
import { signals, type Signal } from '../alerts/signals.ts'
import { withUsual } from '../alerts/usual.ts'
import { snakeCase } from '../schema/section.ts'
import { count, textsOf } from './shapes.ts'

export const breach = z.enum(['above', 'below'])
export const severity = z.enum(SEVERITIES)
const label = z.enum(RULE_LABELS)
export const labels = textsOf(RULE_LABELS)

type Declared = (typeof signals)[number]['keys']
type KeyOf<Keys> = Keys extends unknown ? keyof Keys : never
type SchemaOf<Keys, Key> = Keys extends unknown ? (Key extends keyof Keys ? Keys[Key] : never) : never
type Settings = {
  [Key in Exclude<KeyOf<Declared>, SharedKey> as Key extends Duration ? `${Key}_seconds` : Key]: z.ZodOptional<
    z.ZodType<Exclude<z.output<SchemaOf<Declared, Key>>, undefined>>
  >
}

/** The keys of signals that are durations. */
const DURATIONS = ['window', 'offset', 'longer_than', 'shorter_than', 'relative_to'] as const
type Duration = (typeof DURATIONS)[number]

const nameOf = (key: string) => (DURATIONS.some((name) => name === key) ? `${key}_seconds` : key)

/** A value as the program has it, whatever its limits are. */
function valueIn(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) return valueIn(schema.unwrap())
  if (schema instanceof z.ZodPipe) return valueIn(schema.out)
  if (schema instanceof z.ZodNumber) return schema.isInt ? count : z.number()
  return schema instanceof z.ZodString ? z.string() : schema
}

/** What the signals declare, each setting under the name of its key. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the keys
const settings = Object.fromEntries(
  signals
    .flatMap(({ keys }) => Object.entries(keys))
    .filter(([key]) => !SHARED_KEYS.has(key))
    .map(([key, schema]) => [nameOf(key), z.optional(valueIn(schema))]),
) as Settings

/** A signal with its settings. Durations and windows are seconds. */
export const measured = { signal: z.enum(signals.map(({ name }) => name)), ...settings }

export function measuredView({ name: signal, ...own }: Signal): z.output<z.ZodObject<typeof measured>> {
  const given = Object.entries(own).map(([key, value]) => [nameOf(snakeCase(key)), value] as const)
  // The store may have a rule of a later version.
  return { signal, ...Object.fromEntries(given.filter(([name]) => Object.hasOwn(settings, name))) }
}

export const rule = z.object({
  name: z.string(),
  severity,
  ...measured,
  breach,
  threshold: z.number(),
  clear: z.number(),
  match: labels,
  by: z.array(label),
  readings: z
    .array(
      z.object({
        labels,
        value: z.number().nullable().describe('Null of too few calls'),
        calls: count,
        usual: z.number().optional().describe('With `above_usual`: the usual share, if it is known'),
        threshold: z.number().describe('With `above_usual` at least that of the rule'),
        clear: z.number(),
      }),
    )
    .optional(),
})

export type RuleView = z.output<typeof rule>

/** A rule, with its values at the last successful poll. */
export function ruleView(rule: Rule, ledger: EvaluatedLedger): RuleView {
  const { name, severity, signal, breach, threshold, clear, match, by } = rule
  const values = definitionOf(signal).isShownInStatus === true ? latestValues(rule, ledger, { pollAge: 0 }) : undefined
  return {
    name,
    severity,
    ...measuredView(signal),
    breach,
    threshold,
    clear,
    match,
    by: [...by],
    readings: values?.map(({ labels, value, calls = 0, tooFew, usual }) => {
      const { threshold, clear } = withUsual(rule, usual)
      return { labels, value: tooFew ? null : value, calls, usual, threshold, clear }
    }),
  }
}
