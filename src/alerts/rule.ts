import { z } from 'zod'
import { USAGE_RETENTION_SECONDS } from '../ledger/usage.ts'
import { formatDuration } from '../schema/duration-text.ts'
import { isMap, valueAt } from '../schema/path.ts'
import { camelCase, section, type ReportProblem } from '../schema/section.ts'
import { everyRule, labelled, named, SHARED_KEYS, type RuleOn } from './rule-keys.ts'
import { signals, type Signal } from './signals.ts'

const names = signals.map(({ name }) => name)

/** A rule in the file. Its signal decides which keys it has. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- map() loses which section belongs to which signal
const fileRule = z.discriminatedUnion('signal', signals.map(sectionOf) as unknown as SectionsOf<typeof signals>, {
  error: (issue) =>
    issue.code === 'invalid_union' ? `one of ${names.map((name) => `\`${name}\``).join(', ')}` : undefined,
})

/** One entry of `alerts`. */
export const ruleSchema = z.codec(fileRule, z.custom<RuleOn<Signal>>(), { decode: ruleOf, encode: fileRuleOf })

/** An alert rule. Durations and windows are seconds. */
export type Rule = z.output<typeof ruleSchema>

type SignalDefinition = (typeof signals)[number]
type SectionsOf<All extends readonly SignalDefinition[]> = { [I in keyof All]: ReturnType<typeof sectionOf<All[I]>> }
function sectionOf<One extends SignalDefinition>(definition: One) {
  const { name, description, keys }: { name: One['name']; description: string; keys: One['keys'] } = definition
  const signal = z.literal(name).describe(description)
  return section(
    { ...named, signal, ...keys, ...everyRule },
    (rule, report) => checkRule(definition, rule, report),
    (key) => notOf(definition, key),
  )
}

type Thresholds = { readonly above?: unknown; readonly below?: unknown; readonly clear?: unknown }
type Relative = {
  readonly relative_to?: unknown
  readonly min_calls_then?: unknown
  readonly confidence?: unknown
  readonly above_usual?: unknown
}

/** The cross-check of a rule's threshold and `clear`. */
function checkRule(definition: SignalDefinition, rule: Thresholds & Relative, report: ReportProblem): void {
  const { above, below, relative_to: relativeTo } = rule
  if (above !== undefined && below !== undefined) {
    report(['below'], 'not accepted together with `above`; expected one of them')
    return
  }
  if (above === undefined && below === undefined) {
    // If only one side is possible, the signal's own schema reports it.
    if ('below' in definition.keys) report(['above'], 'missing; expected a threshold, in `above` or in `below`')
    return
  }
  if (above === 1 && definition.unit === 'share' && definition.name !== 'budget_minutes')
    report(['above'], 'found 1, and no ratio can be above that; expected a number below 1')
  const check = relativeTo === undefined ? checkAbsolute : checkRelative
  check(definition, rule, report)
  const isDuration = definition.unit === 'seconds' && relativeTo === undefined
  checkClear(rule, isDuration ? formatDuration : String, report)
}

function checkAbsolute({ unit }: SignalDefinition, rule: Thresholds & Relative, report: ReportProblem): void {
  const { below, clear, min_calls_then: minCallsThen, above_usual: aboveUsual } = rule
  if (aboveUsual !== undefined && below !== undefined) report(['above_usual'], 'accepted only together with `above`')
  if (minCallsThen !== undefined) report(['min_calls_then'], 'accepted only together with `relative_to`')
  if (below === 0) report(['below'], 'found 0, and nothing can be below that; expected a number above 0')
  // The schema refuses any other negative number.
  for (const [key, value] of Object.entries({ below, clear }))
    if (unit === 'share' && typeof value === 'number' && value < 0 && value >= -1)
      report(
        [key],
        `found ${value}, which is accepted only together with \`relative_to\`; expected a ratio from 0 to 1`,
      )
}

/** With a threshold on the other side of what is usual, a rule would fire on what is usual. */
function checkRelative({ unit }: SignalDefinition, rule: Thresholds & Relative, report: ReportProblem): void {
  const { above = Infinity, below = -Infinity, confidence, above_usual: aboveUsual } = rule
  if (confidence !== undefined)
    report(['confidence'], 'not accepted together with `relative_to`, whose values have no confidence')
  if (aboveUsual !== undefined)
    report(['above_usual'], 'not accepted together with `relative_to`, whose values are relative to the usual already')
  const [usual, is, example] =
    unit === 'share' ? [0, 'the difference to the usual share', -0.1] : [1, 'the ratio to the usual value', 0.5]
  const found = (value: unknown) => `found ${String(value)}, but with \`relative_to\` the value is ${is}`
  if (Number(above) < usual) report(['above'], `${found(above)}; expected at least ${usual}`)
  if (Number(below) >= usual || below === usual - 1)
    report(['below'], `${found(below)}; expected less than ${usual}, such as ${example}`)
}

function checkClear(
  { above, below, clear }: Thresholds,
  shown: (value: number) => string,
  report: ReportProblem,
): void {
  if (typeof clear !== 'number') return
  if (typeof above === 'number' && clear > above) {
    report(['clear'], `found ${shown(clear)}, which is past \`above\`; expected at most ${shown(above)}`)
  }
  if (typeof below === 'number' && clear < below) {
    report(['clear'], `found ${shown(clear)}, which is past \`below\`; expected at least ${shown(below)}`)
  }
}

/** Why a signal does not accept a key of another signal; undefined for any other key. */
function notOf({ name }: SignalDefinition, key: string): string | undefined {
  if (!signals.some(({ keys }) => Object.hasOwn(keys, key))) return undefined
  if (Object.hasOwn(labelled, key)) return `\`${key}\` is not accepted, because \`${name}\` has no labels`
  return `\`${key}\` is not accepted for \`${name}\``
}

type FileRule = { signal: string; above?: number; below?: number; clear?: number }

/** The keys that belong to no signal, as the program spells them. */
const SHARED: ReadonlySet<string> = new Set([...SHARED_KEYS].map(camelCase))

function ruleOf({ signal: name, above, below, clear, ...rest }: FileRule): RuleOn<Signal> {
  const threshold = above ?? below
  if (threshold === undefined) throw new Error('a rule without a threshold passed the checks')
  const keys = Object.entries(rest)
  const common = Object.fromEntries(keys.filter(([key]) => SHARED.has(key)))
  const own = Object.fromEntries(keys.filter(([key]) => !SHARED.has(key)))
  const breach = above === undefined ? 'below' : 'above'
  const rule = { match: {}, by: [], ...common, signal: { name, ...own }, breach, threshold, clear: clear ?? threshold }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow which keys a signal has
  return rule as unknown as RuleOn<Signal>
}

/** Encodes a rule for the file, with all defaults. The section leaves out keys that the signal does not accept. */
function fileRuleOf({ signal, breach, threshold, ...common }: RuleOn<Signal>): z.output<typeof fileRule> {
  const { name, ...own } = signal
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a signal's fields are its rule's keys, which the language cannot follow
  return { ...common, signal: name, ...own, [breach]: threshold } as z.output<typeof fileRule>
}

/** Cross-checks how far back rules read against how long finished calls are kept (seconds). */
export function checkWindows(
  rules: readonly Record<string, unknown>[],
  history: unknown,
  report: ReportProblem,
  lookback: unknown = 0,
): void {
  if (typeof history !== 'number') return
  // A call that ended at the beginning of the lookback is used in the month in which it was noticed.
  const month = USAGE_RETENTION_SECONDS + (typeof lookback === 'number' ? lookback : 0)
  const limit = `at most \`store.history\`, which is ${formatDuration(history)}`
  rules.forEach((rule, index) => {
    // A rule that failed its own checks still has the file's keys here.
    const { name, signal } = rule
    const isOfMonth = (isMap(signal) ? signal['of'] : rule['of']) === 'duration'
    if (isOfMonth && history < month)
      report(
        ['alerts', index, 'of'],
        `\`duration\` adds up the calls of a month; expected a \`store.history\` of at least ${formatDuration(month)}, 32d and \`poll.lookback\`, which is ${formatDuration(history)}`,
      )
    const { window, offset } = isMap(signal) ? signal : rule
    if (typeof window !== 'number') return
    const is = `the window of the rule \`${String(name)}\` is ${formatDuration(window)}`
    if (window > history) {
      report(['alerts', index, 'window'], `${is}; expected ${limit}`)
      return
    }
    const earlier = {
      offset,
      'only_if.offset': valueAt(rule['onlyIf'] ?? rule['only_if'], ['offset']),
      relative_to: isMap(signal) ? signal['relativeTo'] : rule['relative_to'],
    }
    for (const [key, offset] of Object.entries(earlier)) {
      if (typeof offset !== 'number' || window + offset <= history) continue
      const sentence = `${is} and its \`${key}\` ${formatDuration(offset)}; expected together ${limit}`
      report(['alerts', index, ...key.split('.')], sentence)
    }
  })
}
