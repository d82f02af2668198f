import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreError } from '../store/store.ts'

/**
 * A path for a store of this process's own, which is gone when the process ends.
 *
 * @throws {StoreError} when no folder can be made for it
 */
export function temporaryStore(): string {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'callwatch-'))
    // However it ends: a second Ctrl-C does not let anything else come to its end.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'callwatch.db')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreError('unavailable', `there is no place for a temporary store: ${reason}; set TMPDIR`, error)
  }
}
