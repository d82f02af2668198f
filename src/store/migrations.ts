import { createViews } from './documented-relations.ts'
import { createTables } from './tables.ts'
import { StoreError } from './store-error.ts'

/** Logs a line about a long operation and its progress. */
export type Say = (line: string) => void

/**
 * How one kind of store gets the schema of this program. An empty store gets the tables of the newest version. The step at an index
 * migrates the tables from version index + 1 to the next. A released step is never edited.
 */
type Migrations = { readonly store: 'sqlite' | 'postgres'; readonly steps: readonly string[] }

/** Version 1 is the first. */
export const MIGRATIONS: Readonly<Record<Migrations['store'], Migrations>> = {
  sqlite: { store: 'sqlite', steps: [] },
  postgres: { store: 'postgres', steps: [] },
}

/** The version of the schema that migrations lead to. */
export const newestVersion = ({ steps }: Migrations): number => steps.length + 1

/** The statements that migrate a store to the newest version. @param version of the store; 0 if it is empty */
export function statementsFrom(version: number, migrations: Migrations, place: string, say: Say): string {
  const { store, steps } = migrations
  const newest = newestVersion(migrations)
  if (version > 0)
    say(`${place} is migrated from version ${version} of the schema to ${newest}; a large store takes minutes`)
  const tables = version === 0 ? [createTables(store)] : steps.slice(version - 1)
  const sql = [...tables, createViews(store)].join(';\n')
  return store === 'sqlite' ? sql.replaceAll('callwatch.', '') : sql
}

/**
 * @param oldest the oldest version that will do: 0 for a daemon, which migrates the store
 * @throws {StoreError} refused: a newer callwatch wrote the store, or it has no schema (0), or one that is too old
 */
export function expectVersion(place: string, version: number, oldest: number, newest: number): void {
  const refused = (what: string) => new StoreError('refused', `${place} ${what}`)
  if (version > newest)
    throw refused(`was written by a newer callwatch (schema ${version}, this one knows ${newest}); upgrade this one`)
  if (version >= oldest) return
  if (version === 0)
    throw refused('contains no callwatch store: check the name, or start `callwatch run` with it first')
  throw refused(
    `was last used by an older callwatch (schema ${version}, this one reads ${newest}); let this one's \`callwatch run\` use it first`,
  )
}
