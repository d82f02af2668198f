import * as z from 'zod'
import { noneText, ruleText } from '../alerts/text/alert-text.ts'
import type { Rule } from '../alerts/rule.ts'
import { worstOf, type WorstValue } from '../alerts/rule-value.ts'
import { withUsual } from '../alerts/usual.ts'
import { isoTime } from '../clock/times.ts'
import type { ValuesOfDay } from '../alerts/values-of-day.ts'
import { breach, labels, measured, measuredView, severity } from './rule.ts'
import { count, namedObject, time } from './shapes.ts'

const watchedRule = z.object({
  name: z.string(),
  severity,
  ...measured,
  breach,
  text: z.string().describe('The rule in words'),
  threshold: z.number(),
  notify: z.array(z.string()).describe('The receivers of its alerts, by the routes'),
  now: z
    .object({
      target: z.string(),
      labels,
      value: z.number(),
      threshold: z.number().describe('With `above_usual` at least that of the rule'),
      calls: count.nullable(),
    })
    .nullable()
    .describe('The worst value of the targets at their last evaluation; null without any that could be a breach'),
  no_value: z.string().optional().describe('Why `now` is null, in words'),
  values: z
    .array(z.object({ at: time, value: z.number().nullable() }))
    .describe('The worst value of that target of each quarter of an hour of the last day, since this daemon started'),
})

/** The rules that are evaluated, and their values of now and of the last day. */
export const watchedRules = namedObject('Rules', { rules: z.array(watchedRule) })
export type WatchedRules = z.output<typeof watchedRules>
type WatchedRule = WatchedRules['rules'][number]

/** A target, and the values of its rules. */
export type Watched = { name: string; values: Pick<ValuesOfDay, 'latest' | 'of'> }

/** @param now UNIX seconds by the host's clock */
export function watchedRuleView(
  rule: Rule,
  { targets, notify, now }: { targets: readonly Watched[]; notify: readonly string[]; now: number },
): WatchedRule {
  const { name, severity, signal, breach, threshold } = rule
  const values = targets.flatMap((target) => {
    const latest = target.values.latest(rule)
    return latest === undefined ? [] : { target, ...latest }
  })
  const worst = worstOf(rule, values)
  const isEvaluated = targets.some((target) => target.values.of(rule, now).length > 0)
  const shown = worst?.target ?? (targets.length === 1 ? targets[0] : undefined)
  return {
    name,
    severity,
    ...measuredView(signal),
    breach,
    text: ruleText({ ...rule, alert: name }),
    threshold,
    notify: [...notify],
    now: worst === undefined ? null : nowView(rule, worst),
    ...(worst === undefined && { no_value: isEvaluated ? noneOf(rule) : 'no successful poll' }),
    values: (shown?.values.of(rule, now) ?? []).map(([at, value]) => ({ at: isoTime(at), value })),
  }
}

/** A budget has no value that could be a breach until minutes are used. */
const noneOf = (rule: Rule) => (rule.signal.name === 'budget_minutes' ? 'no minutes since the set-up' : noneText(rule))

function nowView(rule: Rule, { target, labels, value, usual, calls }: WorstValue & { target: Watched }) {
  return { target: target.name, labels, value, threshold: withUsual(rule, usual).threshold, calls: calls ?? null }
}
