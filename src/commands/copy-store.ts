import { readStoreAddress } from '../config/store-address.ts'
import { COPIED, copyStore, type Copied } from '../store/copy.ts'
import { openCopySource, openCopyDestination, type StoreAddress } from '../store/open-store.ts'
import { subcommand, type Declare } from './command.ts'
import { UsageError } from './explain-error.ts'

/**
 * Copies a store into an empty one, compares both, and prints what it copied and compared. If they differ, it rolls the copy
 * back.
 */
export const declare: Declare = (stores, { env, loader, print, succeed }) =>
  void subcommand(stores, 'copy', ABOUT)
    .option('--from <store>', 'copy from this file or PostgreSQL address (default: the configured store)')
    .option('--to <store>', 'copy into this file or PostgreSQL address (default: the configured store)')
    .addHelpText('after', HELP)
    .action(async (options) => {
      if (options.from === undefined && options.to === undefined) {
        throw new UsageError('nothing to copy; expected --from or --to; the other one is the configured store')
      }
      const load = await loader(options)
      const addressOf = (option: 'from' | 'to'): StoreAddress => {
        const text = options[option]
        if (text === undefined) return load().store
        const read = readStoreAddress(text, env)
        if ('problem' in read) throw new UsageError(`--${option}: ${read.problem}`)
        return read.address
      }
      const [from, to] = [addressOf('from'), addressOf('to')]
      await using source = await openCopySource(from)
      await using destination = await openCopyDestination(to)
      const copied = await copyStore(source, destination)
      copyLines(copied, source.place, destination.place).forEach((line) => print(line))
      succeed(copied.differences.length === 0)
    })

const ABOUT = 'Copy a store with all its counts into an empty one and compare both; stop all daemons on both first'

/** The text that `--help` adds below the options. */
const HELP = `
Both replace \${NAME} from the environment, so that no password is on the command line, where others can read it.
Use single quotes, or the shell replaces it:

  callwatch store copy --from data/callwatch.db --to 'postgres://callwatch:\${PASSWORD}@db1,db2/callwatch'

All or nothing is copied: exit code 1 if the copy, read back, is not equal. The source stays as it is.`

function copyLines({ counts, targets, differences }: Copied, from: string, to: string): string[] {
  const rows = COPIED.map((table) => `${table.replaceAll('_', ' ')}: ${counts[table]}`).join(', ')
  if (differences.length > 0) {
    return [
      `the copy differs from ${from}, which was possibly written to meanwhile; ${to} stays empty:`,
      ...differences.map((difference) => `  ${difference}`),
      `compared row by row: ${rows}`,
    ]
  }
  return [
    `copied ${from} to ${to}: ${targets.map(({ name, seq }) => `${name} (commit ${seq})`).join(', ') || 'no target'}`,
    `read back and compared row by row, without a difference: ${rows}`,
    `from now on use only one of them: let every callwatch use ${to}`,
  ]
}
