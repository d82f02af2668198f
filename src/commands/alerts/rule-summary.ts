import { lengthOf } from '../../history/coverage.ts'
import type { Period } from '../../history/days.ts'
import { formatNumber, formatSeconds } from '../../text/format.ts'
import { tableLines } from '../command.ts'

/** A period in which an alert fired. */
type Fired = Period & { rule: string; target: string }

/**
 * A table with a row for each rule: how often it fired, for how long on at least one target, and on how many.
 *
 * @param rules in their order; by default those that fired
 */
export function ruleSummary(fired: readonly Fired[], rules = fired.map(({ rule }) => rule)): string[] {
  const byRule = Map.groupBy(fired, ({ rule }) => rule)
  const rows = [...new Set(rules)].map((rule) => {
    const own = byRule.get(rule) ?? []
    return [
      rule,
      formatNumber(own.length),
      formatSeconds(lengthOf(own)),
      formatNumber(new Set(own.map(({ target }) => target)).size),
    ]
  })
  return tableLines(['rule', 'fired', 'for', 'targets'], rows, 1)
}
