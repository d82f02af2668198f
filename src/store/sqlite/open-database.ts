import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'
import { BUSY_TIMEOUT_MS, sqliteEngine, type Engine } from './engine.ts'
import type { Say } from '../migrations.ts'
import { expectUndamaged } from './damage.ts'
import { expectLocal } from './network-path.ts'
import { expectSchema, migrate } from './schema.ts'
import { attempt, isBusy } from './sqlite-error.ts'

export type SqliteOptions = {
  /** The file, which is created if it does not exist. `:memory:` keeps nothing. */
  path: string
  /** Whether the file may be on a network or FUSE file system. */
  pathOnNetwork?: boolean | undefined
}

/** Opens a daemon's store in WAL mode. Each commit waits for the disk. @throws {StoreError} as {@link openOwn} */
export function openEngine(options: SqliteOptions, say?: Say): Engine {
  const { db, close } = openOwn(options, say)
  return sqliteEngine(db, { expectInPlace: placeCheck(options.path), close })
}

/**
 * Opens the database of a daemon, creates it if it does not exist, migrates it to this program's schema, and holds its lock until
 * `close`.
 *
 * @throws {StoreError} refused: the file is damaged, not ours, or on a network; unavailable: another daemon holds it, or it cannot be
 * written now
 */
export function openOwn(
  { path, pathOnNetwork = false }: SqliteOptions,
  say?: Say,
): { db: DatabaseSync; close: () => void } {
  return attempt(path, () => {
    using opening = new DisposableStack()
    if (path !== ':memory:') {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
        throw new StoreError(
          'refused',
          `${path} is a folder; store.path names a file, such as ${join(path, 'callwatch.db')}`,
        )
      }
      if (!pathOnNetwork) expectLocal(path)
      mkdirSync(dirname(path), { recursive: true })
      if (opening.use(holdStore(path)) === undefined) {
        const held = `${path} is in use by another callwatch (${holderOf(path)})`
        throw new StoreError('unavailable', `${held}; stop it, or name another file in store.path`)
      }
      makePrivate(path)
    }
    const db = opening.use(new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS }))
    migrate(db, path, undefined, say)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    // Without temp_store, SQLite makes and deletes a file in each commit to undo one INSERT of many rows: two thirds of its writes.
    // A page that changes again before the next checkpoint is copied to the database once. The log takes about 16 MB instead of 4.
    db.exec('PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000')
    const holder = `${hostname()}, process ${process.pid}`
    // Deleted data of participants does not stay in free parts of the file.
    if (db.prepare("SELECT 1 FROM events WHERE participants <> '' LIMIT 1").get()) db.exec('PRAGMA secure_delete = ON')
    db.prepare('INSERT OR REPLACE INTO holder (only, who) VALUES (1, ?)').run(holder)
    // From now on the engine waits.
    db.exec('PRAGMA busy_timeout = 0')
    const opened = opening.move()
    return { db, close: () => opened.dispose() }
  })
}

type OpenExistingOptions = {
  readOnly: boolean
  /** Whether to check all pages for damage. This takes as long as reading the file. */
  checked?: boolean
  /** The oldest version of the schema that will do, in which not every table and column is there; default: the newest. */
  oldest?: number
}

/**
 * Opens the database of a store without its lock, while a daemon may be using it.
 *
 * @throws {StoreError} refused: there is none, it is in memory, another program's, of another schema, or damaged
 */
export function openExisting(
  path: string,
  { readOnly, checked = false, ...accepted }: OpenExistingOptions,
): DatabaseSync {
  if (path === ':memory:') {
    throw new StoreError(
      'refused',
      'the store is in memory, where only its own daemon sees it; set store.path to a file',
    )
  }
  if (!existsSync(path)) {
    throw new StoreError(
      'refused',
      `there is no store ${path}: its name is another one, or callwatch has not run with it yet`,
    )
  }
  return attempt(path, () => {
    using opening = new DisposableStack()
    const db = opening.use(new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS }))
    expectSchema(db, path, accepted)
    if (checked) expectUndamaged(db, path)
    opening.move()
    return db
  })
}

/**
 * Remembers the files of a store, including its write-ahead log. The returned function throws if one of them was replaced or deleted,
 * because writes to the opened files would be lost after a restart.
 *
 * @throws {StoreError} unavailable
 */
function placeCheck(path: string): () => void {
  if (path === ':memory:') return () => undefined
  const opened = [path, `${realpathSync(path)}-wal`].map((name) => ({ name, file: statSync(name) }))
  return () => {
    for (const { name, file } of opened) {
      const found = statSync(name, { throwIfNoEntry: false })
      if (found?.ino === file.ino && found.dev === file.dev) continue
      throw new StoreError(
        'unavailable',
        `${name} is not the file that callwatch has opened: it was deleted or replaced; move that one back, or ` +
          'restart callwatch to use what is there now',
      )
    }
  }
}

/**
 * Locks a store against other daemons, under whatever path they open it, with an exclusive transaction on a small file next to it.
 * The operating system releases the lock however the process dies. A process number in a file would be wrong after kill -9 and in
 * containers.
 *
 * @returns the lock, which is held until it is disposed of; undefined if another process holds it
 */
export function holdStore(path: string): Disposable | undefined {
  const lock = `${existsSync(path) ? realpathSync(path) : path}.lock`
  try {
    if (existsSync(lock)) return takeLock(lock)
    makePrivate(path)
    // A daemon whose lock file was removed still has the store open. Only then is the store itself checked, because a command that
    // reads for long must not keep a daemon from starting.
    using store = new DatabaseSync(path, { timeout: 0 })
    store.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    makePrivate(lock)
    return takeLock(lock)
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}

function takeLock(path: string): Disposable {
  // SQLite would take no lock on a file that it can only read, and report none.
  accessSync(path, constants.W_OK)
  using opening = new DisposableStack()
  opening.use(new DatabaseSync(path, { timeout: 0 })).exec('BEGIN EXCLUSIVE')
  return opening.move()
}

/** Creates a file that only its owner may read. SQLite gives the files next to it the same mode, and reports errors. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {}
}

/** The name of the daemon that holds the store; unknown if its file was deleted while the daemon uses it. */
function holderOf(path: string): string {
  try {
    using db = new DatabaseSync(path, { readOnly: true })
    return String(db.prepare('SELECT who FROM holder').get()?.['who'])
  } catch {
    return 'another process'
  }
}
