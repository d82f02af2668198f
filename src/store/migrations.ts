import { createViews } from './documented-relations.ts'
import { createTables } from './tables.ts'

/** Takes a line for the log: what takes long, and how far it is. */
export type Say = (line: string) => void

/** That a store is brought to the version after this one, of so many. */
export function migrationLine(place: string, version: number, newest: number): string {
  return `${place} is migrated from version ${version} of the schema to ${version + 1}, of ${newest}; a large store takes minutes`
}

/**
 * How each kind of store comes to the schema of this program: an entry brings it from the version of its index to the next. Once
 * released, an entry is never edited, and the description of the tables is what all of them together make.
 */
export const MIGRATIONS = {
  sqlite: [`${createTables('sqlite')};\n${createViews('sqlite')}`.replaceAll('callwatch.', '')],
  postgres: [`${createTables('postgres')};\n${createViews('postgres')}`],
}
