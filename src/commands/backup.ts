import { backupStore } from '../store/sqlite/backup-store.ts'
import type { Declare } from './command.ts'
import { UsageError } from './explain-error.ts'

const USE_PG_DUMP =
  'the store is a PostgreSQL database (store.url); back it up with its own tools: ' +
  '`pg_dump --format=custom --schema=callwatch --file=FILE` copies the database of store.url, also while daemons use it; ' +
  '`pg_restore` restores it'

/** Copies the store, also while a daemon is running, and prints the result. */
export const declare: Declare = (command, { configured, print }) =>
  void command.argument('<file>', 'path of the copy; must not exist yet').action(async (file, options) => {
    const { store } = await configured(options)
    if ('url' in store) throw new UsageError(USE_PG_DUMP)
    const { bytes, targets } = backupStore(store.path, file)
    const held = targets.map(({ name, seq }) => `${name} (commit ${seq})`).join(', ')
    print(`${file}: a copy of ${store.path}, ${bytes} bytes, with ${held || 'no target yet'}`)
  })
