import { createViews } from './documented-relations.ts'
import { createTables } from './tables.ts'

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
