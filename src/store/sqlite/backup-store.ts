import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { openExisting } from './open-database.ts'
import { isOfReading, sqliteError } from './sqlite-error.ts'
import { isBug, StoreError } from '../store-error.ts'

/** A backup is made before an upgrade, maybe by the new version. */
const WHOLE = { readOnly: true, checked: true, oldest: 1 }

/**
 * Copies a store as of one moment into a new file, even while a daemon uses it. The copy is written next to the file and checked
 * before it is renamed, so there is never a partial backup.
 *
 * @returns its targets, with the sequence number of their last commit
 * @throws {StoreError} refused: the file exists, or the store cannot be copied; unavailable: it cannot be read or written
 */
export function backupStore(path: string, file: string) {
  if (existsSync(file)) throw fileExists(file)
  using db = openExisting(path, WHOLE)
  const partial = `${file}.${process.pid}.partial`
  try {
    const descriptor = openSync(partial, 'wx', 0o600)
    try {
      copyInto(db, path, partial)
      const backup = { bytes: statSync(partial).size, targets: targetsOf(partial) }
      // VACUUM INTO does not sync. The backup must survive a power cut.
      fsyncSync(descriptor)
      if (existsSync(file)) throw fileExists(file)
      renameSync(partial, file)
      return backup
    } finally {
      closeSync(descriptor)
      rmSync(partial, { force: true })
    }
  } catch (error) {
    throw error instanceof StoreError || isBug(error) ? error : cannotWrite(error, file)
  }
}

/** Copies the database into an empty file. */
function copyInto(db: DatabaseSync, path: string, file: string): void {
  try {
    db.prepare('VACUUM INTO ?').run(file)
  } catch (error) {
    throw isOfReading(error) ? sqliteError(error, path) : error
  }
}

/** Reads the copy back, and checks its pages. */
function targetsOf(copy: string) {
  using db = openExisting(copy, WHOLE)
  const rows = db.prepare('SELECT name, seq FROM targets ORDER BY name').all()
  return rows.map(({ name, seq }) => ({ name: String(name), seq: Number(seq) }))
}

function fileExists(file: string): StoreError {
  return new StoreError('refused', `${file} exists already; name a file that does not, backups never replace one`)
}

function cannotWrite(error: unknown, file: string): StoreError {
  const message = error instanceof Error ? error.message : String(error)
  return new StoreError('unavailable', `the backup ${file} cannot be written: ${message}`, error)
}
