import type { Database } from './sql.ts'
import type { Say } from './migrations.ts'
import { checkApart } from './sqlite/damage.ts'
import { sqliteEngine } from './sqlite/engine.ts'
import { openEngine, openExisting, type SqliteOptions } from './sqlite/open-database.ts'
import { attempt } from './sqlite/sqlite-error.ts'
import { sqlInPlace } from './sqlite/sqlite-sql.ts'
import { openSqliteThread, sqliteReadingThread } from './sqlite/thread.ts'
import { storeOn } from './store-on.ts'
import type { Store } from './store.ts'

export type SqliteStoreOptions = SqliteOptions & {
  /** All configured receivers. Whatever waits for others is removed. */
  receivers?: readonly string[] | undefined
}

/**
 * Opens the embedded store of a daemon: one SQLite file, used by a separate thread.
 *
 * @throws {StoreError} refused: the file is damaged, or not ours; unavailable: another daemon uses it
 */
export async function openSqliteDaemonStore(options: SqliteStoreOptions, say: Say = () => undefined): Promise<Store> {
  const sql = await openSqliteThread(options, say)
  const reading = options.path === ':memory:' ? sql : sqliteReadingThread(options)
  const { store, notified } = storeOn(sql, { receivers: options.receivers, reading })
  await sql.batch(notified.clear())
  if (options.path === ':memory:') return store
  const closing = new AbortController()
  return {
    ...store,
    check: (onTable) => checkApart(options.path, onTable, closing.signal),
    close: async () => {
      closing.abort()
      await store.close()
    },
  }
}

/** The same in this thread. Everything waits while it writes. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const engine = attempt(options.path, () => openEngine(options))
  const sql = sqlInPlace(engine, options.path, true)
  const { store, notified } = storeOn(sql, { receivers: options.receivers, reading: sql })
  attempt(options.path, () => engine({ do: 'batch', steps: notified.clear() }))
  return store
}

/**
 * Opens a file without its lock, while a daemon may be using it.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openSqliteBeside(path: string, options: { readOnly: boolean }): Database {
  return sqlInPlace(sqliteEngine(openExisting(path, options)), path)
}
