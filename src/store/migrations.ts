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

/**
 * Version 2: a session can have several calls, so two rows of one session are no anomaly. What receivers were told is kept, and the name
 * from which the ids of events follow.
 */
const severalCalls = (text: string, digest: string, options: string) => `
  ALTER TABLE callwatch.calls ADD COLUMN session ${text};
  ALTER TABLE callwatch.calls ADD COLUMN mid ${digest};
  ALTER TABLE callwatch.events ADD COLUMN named ${text};
  CREATE TABLE callwatch.told_groups (receiver ${text} NOT NULL, name ${text} NOT NULL, data ${text} NOT NULL, PRIMARY KEY (receiver, name))${options};
  CREATE INDEX calls_by_session ON callwatch.calls (target, session) WHERE session IS NOT NULL;
  UPDATE callwatch.calls SET marks = marks & ~4096 WHERE (marks & 4096) <> 0;
  DELETE FROM callwatch.counters WHERE series = 'callwatch_call_anomalies_total|repeated_id'`
/** A daemon of version 1 that was halted meanwhile cannot join again: it writes `note`. */
const RENAME_NOTE = 'ALTER TABLE callwatch.members RENAME note TO status'

/**
 * Version 3: what receivers were told is known by alert. Nothing of what waited or was told before is kept, so each receiver is
 * notified again of what fires. Calls have the number of people whom they invited, and rollups these and user minutes, so all of them are
 * computed again.
 */
const notifiedByAlert = (text: string, flag: string, small: string, options: string) => `
  ALTER TABLE callwatch.calls ADD COLUMN invited_joined ${small};
  ALTER TABLE callwatch.calls ADD COLUMN invited_absent ${small};
  DROP TABLE callwatch.outbox;
  DROP TABLE callwatch.recipients;
  DROP TABLE callwatch.told_groups;
  DROP TABLE callwatch.deduplication_keys;
  CREATE TABLE callwatch.notified (id ${text} NOT NULL, receiver ${text} NOT NULL, accepted ${flag} NOT NULL, data ${text} NOT NULL, PRIMARY KEY (id))${options};
  CREATE TABLE callwatch.receivers (name ${text} NOT NULL, data ${text} NOT NULL, PRIMARY KEY (name))${options};
  INSERT INTO callwatch.stale_rollups AS known (quarter, target, version)
  SELECT at, target, 1 FROM callwatch.rollups JOIN callwatch.targets ON target = number WHERE width = 900
  ON CONFLICT (quarter, target) DO UPDATE SET version = known.version + 1`

const [SQLITE_HOT, POSTGRES_TEXT, POSTGRES_HOT] = [' STRICT, WITHOUT ROWID', 'text COLLATE "C"', ' WITH (fillfactor = 50)'] // oxfmt-ignore

export const MIGRATIONS: Readonly<Record<Migrations['store'], Migrations>> = {
  sqlite: {
    store: 'sqlite',
    steps: [severalCalls('TEXT', 'INTEGER', SQLITE_HOT), notifiedByAlert('TEXT', 'INTEGER', 'INTEGER', SQLITE_HOT)],
  },
  postgres: {
    store: 'postgres',
    steps: [
      `${severalCalls(POSTGRES_TEXT, 'bigint', POSTGRES_HOT)}; ${RENAME_NOTE}`,
      notifiedByAlert(POSTGRES_TEXT, 'boolean', 'smallint', POSTGRES_HOT),
    ],
  },
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
