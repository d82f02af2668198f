import type { Config } from '../config/config.ts'
import { backupStore } from '../store/sqlite/backup-store.ts'

/**
 * Copies the store, whether or not a daemon uses it, and prints what was written.
 *
 * @throws {StoreError} when the file exists, cannot be written, or there is no store to copy
 */
export function backup({ store }: Config, file: string, print: (line: string) => void): void {
  const { bytes, targets } = backupStore(store.path, file)
  const held = targets.map(({ name, seq }) => `${name} (commit ${seq})`).join(', ')
  print(`${file}: a copy of ${store.path}, ${bytes} bytes, with ${held || 'no target yet'}`)
}
