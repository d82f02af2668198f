import type { Config } from '../config/config.ts'
import { backupStore } from '../store/sqlite/backup-store.ts'
import { UsageError } from './usage-error.ts'

const USE_PG_DUMP =
  'the store is a PostgreSQL database (store.url), which has its own tools for that: ' +
  '`pg_dump --format=custom --schema=callwatch --file=FILE` of the database that store.url names, also while daemons ' +
  'use it; `pg_restore` brings it back'

/**
 * Copies the store, whether or not a daemon uses it, and prints what was written.
 *
 * @throws {UsageError} where the store is a database, which is not copied into a file
 * @throws {StoreError} when the file exists, cannot be written, or there is no store to copy
 */
export function backup({ store }: Config, file: string, print: (line: string) => void): void {
  if ('url' in store) throw new UsageError(USE_PG_DUMP)
  const { bytes, targets } = backupStore(store.path, file)
  const held = targets.map(({ name, seq }) => `${name} (commit ${seq})`).join(', ')
  print(`${file}: a copy of ${store.path}, ${bytes} bytes, with ${held || 'no target yet'}`)
}
