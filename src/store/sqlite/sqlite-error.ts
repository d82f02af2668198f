import { primaryCode } from './lock.ts'
import { isOwnMistake } from '../own-mistake.ts'
import { StoreError } from '../store.ts'

/** What a failure of SQLite means, by its result code (https://www.sqlite.org/rescode.html). A mistake of our own stays what it is. */
export function sqliteError(error: unknown, path: string): Error {
  if (error instanceof StoreError || isOwnMistake(error)) return error
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
