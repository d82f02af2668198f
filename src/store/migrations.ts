import { createViews } from './documented-relations.ts'
import { createTables } from './tables.ts'
import { StoreError } from './store-error.ts'

/** Logs a line about a long operation and its progress. */
export type Say = (line: string) => void

/** The line about a migration from one version to the next. */
export function migrationLine(place: string, version: number, newest: number): string {
  return `${place} is migrated from version ${version} of the schema to ${version + 1}, of ${newest}; a large store takes minutes`
}

/**
 * The migrations of each kind of store: the entry at an index migrates from that version to the next. A released entry is never
 * edited. All of them together must create the tables as they are described.
 */
export const MIGRATIONS = {
  sqlite: [`${createTables('sqlite')};\n${createViews('sqlite')}`.replaceAll('callwatch.', '')],
  postgres: [`${createTables('postgres')};\n${createViews('postgres')}`],
}

/** @throws {StoreError} refused: a newer callwatch wrote the store */
export function refuseNewer(place: string, version: number, newest: number): void {
  if (version <= newest) return
  throw new StoreError(
    'refused',
    `${place} was written by a newer callwatch (schema ${version}, this one knows ${newest}); upgrade this one`,
  )
}

/** @throws {StoreError} refused: the store has no schema (0), or one older than `newest`, which only a daemon migrates */
export function refuseOlder(place: string, version: number, newest: number): void {
  if (version === newest) return
  throw new StoreError(
    'refused',
    version === 0
      ? `${place} contains no callwatch store: check the name, or start \`callwatch run\` with it first`
      : `${place} was last used by an older callwatch (schema ${version}, this one reads ${newest}); let this one's \`callwatch run\` use it first`,
  )
}
