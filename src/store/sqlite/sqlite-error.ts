import { primaryCode } from './lock.ts'
import { StoreError } from '../store.ts'

/** What a failure of SQLite means, by its result code (https://www.sqlite.org/rescode.html). */
export function sqliteError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  const code = primaryCode(error)
  if (code === 11 || code === 26) {
    return new StoreError(
      'refused',
      `${path} is damaged or no SQLite database (${message}); restore it from a backup, or name another file in store.path`,
      error,
    )
  }
  return new StoreError('unavailable', `the store ${path} cannot be used: ${message}`, error)
}
