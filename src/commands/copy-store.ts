import type { Config } from '../config/config.ts'
import type { Environment } from '../config/reading/environment.ts'
import { readStoreAddress } from '../config/store-address.ts'
import { copyStore, type Copied } from '../store/copy-store.ts'
import { COPY_TABLE_NAMES, type CopyTable } from '../store/copy-tables.ts'
import { openCopySource, openCopyTarget, type StoreAddress } from '../store/open-store.ts'
import { UsageError } from './usage-error.ts'

/** Each a file or the address of a database, with `${NAME}` for a variable; the one that is left out is the configured one. */
export type CopyOptions = { from?: string; to?: string }

/** What stands in the rows of each table. */
const NAMES: Readonly<Record<CopyTable, string>> = {
  targets: 'targets',
  calls: 'calls',
  counters: 'counters',
  settled: 'sums of deleted calls',
  alerts: 'alerts',
  usage: 'quarter-hours of minutes',
  evaluations: 'hours of evaluations',
  outbox: 'waiting messages',
  receivers: 'receivers of open alerts',
  put_out: 'digests sent',
  silences: 'silences',
  holds: 'waits that the service asked for',
}

/** What `--help` says beside the options. */
export const COPY_HELP = `
In both, \${NAME} is replaced from the environment, so that no password has to stand on the command line, where others can
read it. Put it between single quotes, or the shell replaces it:

  callwatch store copy --from data/callwatch.db --to 'postgres://callwatch:\${PASSWORD}@db1,db2/callwatch'

All or nothing is kept: exit code 1 if the copy, read back, is not equal. The store that was copied stays as it is.`

/**
 * Copies a store into an empty one, compares them, and prints what was copied and compared.
 *
 * @param load reads the configuration, if it is needed
 * @returns whether both are equal; where not, nothing is kept of the copy
 * @throws {UsageError} when it is not clear which stores are meant
 * @throws {StoreError} when one of them is in use, cannot be used, or is none to copy from or into
 */
export async function storeCopy(
  options: CopyOptions,
  { load, env }: { load: () => Config; env: Environment },
  print: (line: string) => void,
): Promise<boolean> {
  if (options.from === undefined && options.to === undefined) {
    throw new UsageError('nothing to copy; expected --from or --to: the one that is left out is the configured store')
  }
  const addressOf = (option: 'from' | 'to'): StoreAddress => {
    const text = options[option]
    if (text === undefined) return load().store
    const read = readStoreAddress(text, env)
    if ('problem' in read) throw new UsageError(`--${option}: ${read.problem}`)
    return read.address
  }
  const [from, to] = [addressOf('from'), addressOf('to')]
  const source = await openCopySource(from)
  try {
    const target = await openCopyTarget(to)
    try {
      const copied = await copyStore(source, target)
      copyLines(copied, source.place, target.place).forEach(print)
      return copied.differences.length === 0
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

function copyLines({ counts, targets, differences }: Copied, from: string, to: string): string[] {
  const rows = COPY_TABLE_NAMES.map((table) => `${NAMES[table]}: ${counts[table]}`).join(', ')
  if (differences.length > 0) {
    return [
      `the copy differs from ${from}, which somebody may have written to meanwhile; nothing of it is kept in ${to}:`,
      ...differences.map((difference) => `  ${difference}`),
      `compared were, row by row: ${rows}`,
    ]
  }
  return [
    `copied ${from} to ${to}: ${targets.map(({ name, seq }) => `${name} (commit ${seq})`).join(', ') || 'no target'}`,
    `read back and compared, row by row, without a difference: ${rows}`,
    `from now on only one of them is to be counted in; let every callwatch use ${to}`,
  ]
}
