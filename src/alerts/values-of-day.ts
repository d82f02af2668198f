import type { WorstValues } from './evaluate.ts'
import type { Rule } from './rule.ts'
import { worstOf, type WorstValue } from './rule-value.ts'
import type { ValueAt } from './values-over-time.ts'

/** A day has so many steps, each of so many seconds. */
const STEPS = 96
const STEP_SECONDS = 900
/** As precise as what is kept. */
const DIGITS = 6

/** The values of a target's rules as they were evaluated in the last day. Kept in memory, from the start on. */
export type ValuesOfDay = ReturnType<typeof valuesOfDay>

type Kept = { rule: Rule; latest: WorstValue | undefined; step: number; values: Float32Array }

export function valuesOfDay() {
  const byName = new Map<string, Kept>()
  /** What is kept of a rule, which may have been changed by a reload. */
  const keptOf = (rule: Rule): Kept | undefined => {
    const kept = byName.get(rule.name)
    return kept !== undefined && (kept.rule === rule || measuredBy(kept.rule) === measuredBy(rule)) ? kept : undefined
  }
  return {
    /** @param now UNIX seconds by the host's clock */
    note: (worst: WorstValues, now: number): void => {
      const step = Math.floor(now / STEP_SECONDS)
      for (const [rule, latest] of worst) {
        const { step: last, values } = keptOf(rule) ?? { step: step - STEPS, values: new Float32Array(STEPS) }
        for (let passed = Math.max(last, step - STEPS) + 1; passed <= step; passed += 1) values[passed % STEPS] = NaN
        const both = [values[step % STEPS]!, latest?.value ?? NaN].filter((value) => !Number.isNaN(value))
        values[step % STEPS] =
          worstOf(
            rule,
            both.map((value) => ({ value })),
          )?.value ?? NaN
        byName.set(rule.name, { rule, latest, step: Math.max(last, step), values })
      }
    },
    /** The value of the last evaluation; undefined if it had none that could be a breach. */
    latest: (rule: Rule): WorstValue | undefined => keptOf(rule)?.latest,
    /** The worst value of each quarter of an hour until now, with its beginning (UNIX seconds); null where there was none. Empty without any. */
    of: (rule: Rule, now: number): ValueAt[] => {
      const { step: last = NaN, values } = keptOf(rule) ?? {}
      if (values === undefined) return []
      const step = Math.floor(now / STEP_SECONDS)
      const steps = Array.from({ length: STEPS }, (_, i) => step - STEPS + 1 + i)
      const valueIn = (each: number) => (each <= last ? values[each % STEPS]! : NaN)
      return steps.map((each): ValueAt => {
        const value = valueIn(each)
        return [each * STEP_SECONDS, Number.isNaN(value) ? null : Number(value.toPrecision(DIGITS))]
      })
    },
  }
}

const measuredBy = ({ signal, breach, match, by }: Rule) => JSON.stringify([signal, breach, match, by])
