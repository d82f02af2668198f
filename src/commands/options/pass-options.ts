import type { Command } from 'commander'
import { UsageError } from '../explain-error.ts'

/** Options that mean the same for a command and its subcommands. */
const PASSED = ['config', 'target']

/**
 * Passes on options that stand before a subcommand, as in `callwatch alerts --config FILE calls RULE`. Commander would drop
 * them.
 *
 * @throws {UsageError} for an option that the subcommand does not accept in that place
 */
export function passOptions(subcommand: Command): void {
  for (let above = subcommand.parent; above !== null; above = above.parent) {
    const given = above.options.filter((option) => above.getOptionValueSource(option.attributeName()) === 'cli')
    for (const option of given) {
      const key = option.attributeName()
      const own = subcommand.options.find(({ long }) => long === option.long)
      const place = `before \`${subcommand.name()}\``
      if (own === undefined)
        throw new UsageError(`${option.long} ${place}: \`${subcommand.name()}\` has no such option; leave it out`)
      if (!PASSED.includes(key))
        throw new UsageError(`${option.long} ${place}: write it after \`${subcommand.name()}\``)
      if (subcommand.getOptionValueSource(key) === 'cli')
        throw new UsageError(`${option.long} is given twice: leave one out`)
      subcommand.setOptionValueWithSource(key, above.getOptionValue(key), 'cli')
    }
  }
}
