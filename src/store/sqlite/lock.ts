import { DatabaseSync } from 'node:sqlite'

/**
 * Holds an exclusive transaction on a small file beside the store for as long as the daemon runs. The operating system
 * frees it however the process dies; a process number in a file would lie after kill -9 and in containers.
 *
 * @returns releases it; undefined where another process holds it
 */
export function takeLock(path: string): (() => void) | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return () => lock.close()
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED, with all their extended codes. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 5 || code === 6
}

/** SQLite's primary result code of an error that node:sqlite threw; undefined of any other. */
export function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}
