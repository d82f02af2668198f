import { formatNumber, formatSeconds } from '../../text/format.ts'
import { tableLines } from '../command.ts'

/** A time that an alert fired: for so many seconds. */
type Fired = { rule: string; target: string; seconds: number }

/** A table with a row for each rule: how often it fired, for how long in all, and on how many targets. */
export function ruleSummary(rules: Iterable<string>, fired: readonly Fired[]): string[] {
  const byRule = Map.groupBy(fired, ({ rule }) => rule)
  const rows = [...new Set(rules)].map((rule) => {
    const own = byRule.get(rule) ?? []
    const seconds = own.reduce((sum, each) => sum + each.seconds, 0)
    return [
      rule,
      formatNumber(own.length),
      formatSeconds(seconds),
      formatNumber(new Set(own.map(({ target }) => target)).size),
    ]
  })
  return tableLines(['rule', 'fired', 'for in all', 'targets'], rows, 1)
}
