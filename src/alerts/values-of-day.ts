import type { WorstValues } from './evaluate.ts'
import { worstOf, type WorstValue } from './rule-value.ts'
import type { ValueAt } from './values-over-time.ts'

/** A day has so many steps, each of so many seconds. */
const STEPS = 96
const STEP_SECONDS = 900

/** The values of a target's rules as they were evaluated in the last day, by the names of the rules. Kept in memory, from the start on. */
export type ValuesOfDay = ReturnType<typeof valuesOfDay>

type Kept = { latest: WorstValue; step: number; values: Float32Array }

export function valuesOfDay() {
  const byRule = new Map<string, Kept>()
  return {
    /** @param now UNIX seconds by the host's clock */
    note: (worst: WorstValues, now: number): void => {
      const step = Math.floor(now / STEP_SECONDS)
      for (const [rule, latest] of worst) {
        const { step: last, values } = byRule.get(rule.name) ?? { step: step - STEPS, values: new Float32Array(STEPS) }
        for (let passed = Math.max(last, step - STEPS) + 1; passed <= step; passed += 1) values[passed % STEPS] = NaN
        const before = values[step % STEPS]!
        const both = [{ value: before }, latest].filter(({ value }) => !Number.isNaN(value))
        values[step % STEPS] = worstOf(rule, both)!.value
        byRule.set(rule.name, { latest, step, values })
      }
    },
    /** The value of the last evaluation; undefined if there was none. */
    latest: (rule: string): WorstValue | undefined => byRule.get(rule)?.latest,
    /** The worst value of each quarter of an hour until now, with its beginning (UNIX seconds); null where there was none. Empty without any. */
    of: (rule: string, now: number): ValueAt[] => {
      const { step: last = NaN, values } = byRule.get(rule) ?? {}
      if (values === undefined) return []
      const step = Math.floor(now / STEP_SECONDS)
      const steps = Array.from({ length: STEPS }, (_, i) => step - STEPS + 1 + i)
      const valueIn = (each: number) => (each <= last && each > last - STEPS ? values[each % STEPS]! : NaN)
      return steps.map((each): ValueAt => [each * STEP_SECONDS, Number.isNaN(valueIn(each)) ? null : valueIn(each)])
    },
  }
}
