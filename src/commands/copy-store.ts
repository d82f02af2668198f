import type { Config } from '../config/config.ts'
import type { Environment } from '../config/reading/environment.ts'
import { readStoreAddress } from '../config/store-address.ts'
import { COPIED, copyStore, type Copied } from '../store/copy.ts'
import { openCopySource, openCopyDestination, type StoreAddress } from '../store/open-store.ts'
import { UsageError } from './explain-error.ts'

/** Each a file or the URL of a PostgreSQL database, with `${NAME}` for a variable; default: the configured store. */
export type CopyOptions = { from?: string; to?: string }

/** Names of what the rows of each table are. */
const NAMES: Readonly<Record<string, string>> = {
  targets: 'targets',
  calls: 'calls',
  counters: 'counters',
  deleted_call_totals: 'sums of deleted calls',
  gaps: 'times without a successful poll',
  alerts: 'alerts',
  usage: 'quarter-hours of minutes',
  evaluations: 'hours of evaluations',
  events: 'commits with events',
  webhooks: 'webhooks of events',
  undelivered: 'undelivered events',
  outbox: 'outbox entries',
  recipients: 'recipients of open alerts',
  alert_episodes: 'past and open alerts',
  deduplication_keys: 'sent digests',
  silences: 'silences',
  pauses: 'rate limit pauses',
}

/**
 * Copies a store into an empty one, compares both, and prints what it copied and compared.
 *
 * @param load reads the configuration, if needed
 * @returns whether both are equal; if not, the copy is rolled back
 * @throws {UsageError} when the options name no store or no valid address
 * @throws {StoreError} when one of them is in use, unusable, missing (the source) or not empty (the copy)
 */
export async function storeCopy(
  options: CopyOptions,
  { load, env }: { load: () => Config; env: Environment },
  print: (line: string) => void,
): Promise<boolean> {
  if (options.from === undefined && options.to === undefined) {
    throw new UsageError('nothing to copy; expected --from or --to; the other one is the configured store')
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
    const destination = await openCopyDestination(to)
    try {
      const copied = await copyStore(source, destination)
      copyLines(copied, source.place, destination.place).forEach(print)
      return copied.differences.length === 0
    } finally {
      await destination.close()
    }
  } finally {
    await source.close()
  }
}

function copyLines({ counts, targets, differences }: Copied, from: string, to: string): string[] {
  const rows = COPIED.map((table) => `${NAMES[table]}: ${counts[table]}`).join(', ')
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
