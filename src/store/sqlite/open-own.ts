import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteError } from './sqlite-error.ts'
import { takeLock } from './lock.ts'
import { migrate } from './schema.ts'
import { StoreError } from '../store.ts'

/**
 * Opens the database of a daemon, makes it where there is none, brings it to this program's schema, and holds its lock until
 * `release`.
 *
 * @throws {StoreError} refused: the file is held by another daemon, damaged, or not ours
 */
export function openOwn(path: string): { db: DatabaseSync; release: () => void } {
  let release: (() => void) | undefined = nothingToRelease
  let db: DatabaseSync | undefined
  try {
    if (path !== ':memory:') {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
        throw new StoreError(
          'refused',
          `${path} is a folder; store.path names a file, such as ${join(path, 'callwatch.db')}`,
        )
      }
      mkdirSync(dirname(path), { recursive: true })
      makePrivate(`${path}.lock`)
      makePrivate(path)
      release = takeLock(`${path}.lock`)
    }
    db = new DatabaseSync(path, { timeout: 0 })
    if (release === undefined) throw heldError(db, path)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(db, path)
    const who = `${hostname()}, process ${process.pid}`
    db.prepare('INSERT OR REPLACE INTO holder (only, who) VALUES (1, ?)').run(who)
    return { db, release }
  } catch (error) {
    db?.close()
    release?.()
    throw sqliteError(error, path)
  }
}

/** A new file is its owner's alone; SQLite gives what it makes beside it the same mode. What cannot be made it says itself. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {}
}

function nothingToRelease(): void {}

function heldError(db: DatabaseSync, path: string): StoreError {
  const who = db.prepare('SELECT who FROM holder').get()?.['who'] ?? 'another process'
  return new StoreError(
    'refused',
    `${path} is in use by another callwatch (${String(who)}); stop it, or name another file in store.path`,
  )
}
