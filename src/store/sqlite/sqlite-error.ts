import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isBug, StoreError } from '../store-error.ts'

/**
 * What a failure of SQLite means, by its result code (https://www.sqlite.org/rescode.html). A bug of ours is returned as it is.
 */
export function sqliteError(error: unknown, path: string): Error {
  if (error instanceof StoreError || isBug(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  if (isDamaged(error)) {
    return new StoreError(
      'refused',
      `${path} is damaged or no SQLite database (${message}); restore it from a backup, or name another file in store.path`,
      error,
    )
  }
  return new StoreError('unavailable', `the store ${path} cannot be used: ${message}${forbidden(path)}`, error)
}

/** What of a store this user may not write to, which SQLite does not say, and what to do; empty if there is nothing. */
function forbidden(path: string): string {
  const folder = dirname(resolve(path))
  let place = folder
  try {
    while (!existsSync(place)) place = dirname(place)
    for (place of [place, path, `${path}-wal`, `${path}.lock`]) if (existsSync(place)) accessSync(place, constants.W_OK)
    return ''
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EROFS')
      return `; ${place} is on a read-only file system: mount a volume there, or name another file in store.path`
    const [user, { uid }] = [process.geteuid?.(), statSync(place)]
    const fix = existsSync(folder) ? `run \`chown ${user} ${place}\`` : `create ${folder} for user ${user}`
    const what = uid === user ? ': make it writable' : `, which belongs to user ${uid}: ${fix}`
    return `; user ${user} may not write to ${place}${what}, or name another file in store.path`
  }
}

/** Whether the error is SQLITE_BUSY or SQLITE_LOCKED, or one of their extended codes. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 5 || code === 6
}

/** SQLITE_IOERR_READ and SQLITE_IOERR_SHORT_READ. */
const READ_ERRORS = [266, 522]

/** Whether the error means that a file cannot be read: it is busy or damaged, or the disk fails. */
export function isOfReading(error: unknown): boolean {
  if (isBug(error) || isBusy(error) || isDamaged(error)) return true
  return error instanceof Error && 'errcode' in error && READ_ERRORS.includes(Number(error.errcode))
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export function isDamaged(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 11 || code === 26
}

/** Runs work on the database of a file, and converts what it throws with {@link sqliteError}. */
export function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw sqliteError(error, path)
  }
}

/** SQLite's primary result code of an error from node:sqlite; undefined for other errors. */
function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}
