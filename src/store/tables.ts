import { IS_OPEN, KINDS_OF_CALL_COLUMNS, CALL_VALUES } from './call-columns.ts'

/**
 * The type of a column. Numbers are 64-bit floats; `whole` and `small` ones are integers below 2^53 and 2^15. A `flag` is a boolean,
 * which SQLite stores as 0 or 1. A `target` is the number of a target. A type with `?` can be null.
 */
export type Kind = 'serial' | 'target' | Nullable<'text' | 'real' | 'whole' | 'small' | 'digest' | 'flag' | 'bytes'>
type Nullable<K extends string> = K | `${K}?`

export type Table = {
  readonly columns: Readonly<Record<string, Kind>>
  /** The columns that identify a row. Rows are copied in their order. */
  readonly key: readonly string[]
  /** Generated columns for indexes. */
  readonly generated?: Readonly<Record<string, readonly [kind: Kind, value: string]>>
  readonly unique?: string
  /** The indexes by name: their columns, and the condition for their rows. */
  readonly indexes?: Readonly<Record<string, string>>
  /** Rows are stored in the order of insertion. In the order of a key of random ids, each write would cost a page. */
  readonly appended?: true
  /** Its rows change often. */
  readonly hot?: true
  /** Not copied, because it is derived from other tables, or only concerns the daemons that use the store now. */
  readonly derived?: true
}

/** The tables of both stores. Times are UNIX seconds. Comments name the types of JSON columns. */
const ALL_TABLES = {
  targets: {
    key: ['name'],
    columns: {
      number: 'serial',
      name: 'text',
      fingerprint: 'text',
      /** The sequence number of the last commit: the fence against other writers. */
      seq: 'whole',
      /** ledger/state.ts SyncState */
      sync: 'text',
      /** When the target left the configuration, by the service's clock; null while it is configured. */
      removed: 'real?',
      /** Calls that finished up to this time may have been deleted; null before any was. */
      expired: 'real?',
      /** The member that may commit it (cluster.ts), and how often it was acquired: the fence against earlier owners. */
      owner: 'text?',
      epoch: 'whole',
    },
    unique: 'name',
    indexes: { targets_by_owner: '(owner)' },
    hot: true,
  },

  /** Tracked calls, and the history of evicted calls. The column `tracked` distinguishes them. */
  calls: {
    key: ['target', 'id'],
    columns: {
      target: 'target',
      // ledger/tracked-call.ts TrackedCall
      ...KINDS_OF_CALL_COLUMNS,
      tracked: 'flag',
      /** When the target of this open call left the configuration. callwatch does not see the end of the call. */
      unseen_since: 'real?',
    },
    generated: {
      finished: ['real?', CALL_VALUES.finished],
      status: ['small', CALL_VALUES.status],
      labels: ['small', CALL_VALUES.labels],
      recorded: ['flag', CALL_VALUES.recorded],
    },
    indexes: {
      calls_by_finish: '(target, finished, status, labels, recorded) WHERE finished IS NOT NULL',
      calls_by_session: '(target, session) WHERE session IS NOT NULL',
      tracked_calls: '(target) WHERE tracked',
      open_calls: `(target) WHERE ${IS_OPEN}`,
    },
    appended: true,
  },

  /** ledger/series.ts seriesKey */
  counters: { key: ['target', 'series'], columns: { target: 'target', series: 'text', value: 'real' }, hot: true },
  /** The counted amounts of calls whose rows were deleted, by ledger/balance.ts Quantity. */
  deleted_call_totals: {
    key: ['target', 'quantity'],
    columns: { target: 'target', quantity: 'text', value: 'real' },
    hot: true,
  },
  /** Periods without a successful poll, by the service's clock. */
  gaps: { key: ['target', 'ended'], columns: { target: 'target', ended: 'real', began: 'real' } },
  /** alerts/alert-instance.ts AlertInstance */
  alerts: { key: ['target', 'alert'], columns: { target: 'target', alert: 'text', data: 'text' }, hot: true },
  /** Participant minutes by quarter of an hour, for budgets and digests. */
  usage: { key: ['target', 'quarter'], columns: { target: 'target', quarter: 'whole', minutes: 'real' } },
  /** Rule evaluations by hour, for backtest: evaluation-log.ts. */
  evaluations: { key: ['target', 'hour'], columns: { target: 'target', hour: 'whole', data: 'text' } },

  /**
   * The event log, with a row for each commit that has events. With several daemons, a lower serial may become visible later than a
   * higher one, so rows get positions once they are visible. The newest position is never deleted, so positions only increase.
   */
  events: {
    key: ['serial'],
    columns: {
      serial: 'serial',
      position: 'whole?',
      /** A UUID. */
      id: 'text',
      /** The name of the target, which may no longer be in `targets`. */
      target: 'text',
      /** The name that the target had then, if it has another one now: the ids of events follow from it. */
      named: 'text?',
      /** By the host's clock. */
      at: 'real',
      n: 'whole',
      /** How many events the log has had, including these. Set together with the position. */
      total: 'whole?',
      /** events/event.ts LoggedBody, one a line. */
      data: 'text',
      /** The participants of each event, one line per event; empty if no event has any. */
      participants: 'text',
    },
    unique: 'position',
    indexes: {
      events_without_position: '(serial) WHERE position IS NULL',
      events_by_age: '(at)',
      events_with_participants: "(serial) WHERE participants <> ''",
    },
    hot: true,
  },
  /** The webhooks of events: store.ts WebhookProgress, and how often it was saved. */
  webhooks: { key: ['name'], columns: { name: 'text', revision: 'whole', data: 'text' }, hot: true },
  /** Events before the cursor of a webhook that it has not received: the other fields of store.ts UndeliveredEvent. */
  undelivered: {
    key: ['webhook', 'dead', 'position', 'place'],
    columns: { webhook: 'text', dead: 'flag', position: 'whole', place: 'whole', data: 'text' },
  },

  /** What messages told receivers, and, not accepted, what attempts without an answer may have told: store.ts NotifiedRow. */
  notified: {
    key: ['id'],
    columns: { id: 'text', receiver: 'text', accepted: 'flag', data: 'text' },
    hot: true,
  },
  /** What else is known of each receiver: store.ts ReceiverState. */
  receivers: { key: ['name'], columns: { name: 'text', data: 'text' }, hot: true },
  /** The history of alerts: a row for each time that an alert fires, updated with its changes. */
  alert_episodes: {
    key: ['target', 'alert', 'since'],
    columns: {
      target: 'text',
      alert: 'text',
      since: 'real',
      /** Null while it fires. */
      until: 'real?',
      rule: 'text',
      severity: 'text',
      /** alerts/episode.ts Episode */
      data: 'text',
      /** Notes of its delivery: alerts/episode.ts EpisodeNote. */
      notes: 'text',
    },
    indexes: { alert_episodes_by_age: '(until)', alert_episodes_by_begin: '(since)' },
  },
  /** alerts/match.ts Silence */
  silences: { key: ['id'], columns: { id: 'serial', until: 'real', data: 'text' } },
  /** Rate limit pauses, by the host's clock. */
  pauses: { key: ['key'], columns: { key: 'text', until: 'real' } },

  /** The finished calls of a period, added up: history/rollups.ts. Target 0 stands for all targets. */
  rollups: {
    key: ['target', 'width', 'at'],
    columns: { target: 'target', width: 'whole', at: 'whole', by_labels: 'bytes', without_labels: 'bytes' },
    appended: true,
    derived: true,
  },
  /** Quarters of an hour whose calls have changed since they were added up. The version increases with each change. */
  stale_rollups: {
    key: ['quarter', 'target'],
    columns: { quarter: 'whole', target: 'target', version: 'whole' },
    hot: true,
    derived: true,
  },
  /** Row 1: how often rollups were saved, or their calls deleted with the target. */
  rollup_saves: { key: ['id'], columns: { id: 'whole', n: 'whole' }, derived: true },
} as const satisfies Readonly<Record<string, Table>>

export type TableName = keyof typeof ALL_TABLES

/** The tables, without the literal types of a certain one. */
export const TABLES: Readonly<Record<TableName, Table>> = ALL_TABLES

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** The copied tables. Each comes after the tables that it refers to. */
export const COPIED = TABLE_NAMES.filter((name) => TABLES[name].derived !== true)

/** Those whose rows belong to targets, by their numbers. The target is the first column. */
export const TABLES_OF_TARGETS = COPIED.filter((name) => TABLES[name].columns['target'] === 'target')

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a kind without its question mark
const typeOf = (kind: Kind) => kind.replace('?', '') as keyof (typeof TYPES)['postgres']

/** Declares columns of a table for a statement's relation `given` (sql.ts). */
function givenOf(table: TableName, names: readonly string[]): string {
  const types = { text: 'text', real: 'float8', whole: 'bigint', small: 'int', digest: 'bigint', flag: 'boolean', bytes: 'bytea', target: 'int', serial: 'bigint' } // oxfmt-ignore
  return `given(${names.map((name) => `${name} ${types[typeOf(TABLES[table].columns[name]!)]}`).join(', ')})`
}

/**
 * A statement that inserts the rows of `given` with these columns.
 *
 * @param conflict what happens to a row whose key exists; the existing row is `known`
 */
export function insertInto(table: TableName, columns: readonly string[], conflict?: string): string {
  const names = columns.join(', ')
  const on = conflict === undefined ? '' : ` ON CONFLICT (${TABLES[table].key.join(', ')}) DO ${conflict}`
  return `INSERT INTO callwatch.${table} AS known (${names}) SELECT ${names} FROM ${givenOf(table, columns)} WHERE true${on}`
}

/** Replaces these columns of an existing row, but not its key: SQLite would write the index of the key again. */
export function replacing(table: TableName, columns: readonly string[]): string {
  const others = columns.filter((name) => !TABLES[table].key.includes(name))
  return `UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** Selects the rows whose keys are in `given`. */
export function keyIsGiven(table: TableName): string {
  const { key } = TABLES[table]
  return `(${key.join(', ')}) IN (SELECT ${key.map((name) => `given.${name}`).join(', ')} FROM ${givenOf(table, key)})`
}

/** Changes a column to `next` in the rows whose keys are in `given`. */
export function changing(table: TableName, column: string): string {
  const { key } = TABLES[table]
  const given = givenOf(table, key).replace(')', ', next text)')
  const isGiven = key.map((name) => `${table}.${name} = given.${name}`).join(' AND ')
  return `UPDATE callwatch.${table} SET ${column} = next FROM ${given} WHERE ${isGiven}`
}

const TYPES = {
  sqlite: { text: 'TEXT', real: 'REAL', whole: 'INTEGER', small: 'INTEGER', digest: 'INTEGER', flag: 'INTEGER', bytes: 'BLOB', target: 'INTEGER', serial: 'INTEGER PRIMARY KEY AUTOINCREMENT' }, // oxfmt-ignore
  // Texts are ordered by their bytes, whatever the locale of the database.
  postgres: { text: 'text COLLATE "C"', real: 'double precision', whole: 'bigint', small: 'smallint', digest: 'bigint', flag: 'boolean', bytes: 'bytea', target: 'integer', serial: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY' }, // oxfmt-ignore
} as const

/** Tables that only one kind of store has, and that are not copied. */
const OF_ONE_DATABASE = {
  // The daemon that uses this store. A second daemon names it in its error.
  sqlite: 'CREATE TABLE callwatch.holder (only INTEGER PRIMARY KEY CHECK (only = 1), who TEXT NOT NULL) STRICT',
  postgres: `
  -- The same time as in call_history: its ranges of time find nothing by calls_by_finish.
  CREATE INDEX calls_by_finish_time ON callwatch.calls (to_timestamp(finished), target);

  -- The living daemons, each by its lease, in the order of joined.
  CREATE TABLE callwatch.members (
    id text PRIMARY KEY,
    joined bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    status text NOT NULL,           -- JSON, shown by the others
    ends timestamptz NOT NULL,      -- the lease, by the database's clock
    -- The settings that it uses. All must use those that a living member declared last.
    settings text NOT NULL,         -- JSON of store/settings.ts Settings
    declared bigint GENERATED ALWAYS AS IDENTITY
  ) WITH (fillfactor = 50);
  ALTER TABLE callwatch.targets ADD FOREIGN KEY (owner) REFERENCES callwatch.members (id) ON DELETE SET NULL;

  -- What the owner of a target shows of it to the other daemons.
  CREATE TABLE callwatch.overviews (
    target integer PRIMARY KEY,
    data text NOT NULL,
    changed xid8 NOT NULL DEFAULT pg_current_xact_id()
  ) WITH (fillfactor = 50);
  CREATE INDEX overviews_by_change ON callwatch.overviews (changed)`,
}

/** PostgreSQL aligns each value to its size, so the widest columns come first, and columns without a fixed size last. */
const WIDEST_FIRST = { serial: 0, real: 1, whole: 2, digest: 3, target: 4, small: 5, flag: 6, text: 7, bytes: 8 }

/** The statements that create all tables. */
export function createTables(store: keyof typeof TYPES): string {
  const create = (name: TableName): string => {
    const { columns, key, generated = {}, unique, indexes = {}, appended = false, hot = false } = TABLES[name]
    const isNumbered = Object.values(columns).includes('serial')
    const stored = store === 'sqlite' ? 'VIRTUAL' : 'STORED'
    const all = [
      ...Object.entries(columns).map(([column, kind]) => [column, kind, ''] as const),
      ...Object.entries(generated).map(
        ([column, [kind, value]]) => [column, kind, ` GENERATED ALWAYS AS (${value}) ${stored}`] as const,
      ),
    ]
    if (store === 'postgres') all.sort(([, a], [, b]) => WIDEST_FIRST[typeOf(a)] - WIDEST_FIRST[typeOf(b)])
    const definitions = [
      ...all.map(
        ([column, kind, value]) =>
          `${column} ${TYPES[store][typeOf(kind)]}${kind.endsWith('?') ? '' : ' NOT NULL'}${value}`,
      ),
      ...(isNumbered ? [] : [`PRIMARY KEY (${key.join(', ')})`]),
      ...(unique === undefined ? [] : [`UNIQUE (${unique})`]),
    ]
    const options = {
      sqlite: appended || isNumbered ? ' STRICT' : ' STRICT, WITHOUT ROWID',
      postgres: hot ? ' WITH (fillfactor = 50)' : '',
    }[store]
    return [
      `CREATE TABLE callwatch.${name} (${definitions.join(', ')})${options}`,
      ...Object.entries(indexes).map(([index, of]) => `CREATE INDEX ${index} ON callwatch.${name} ${of}`),
    ].join(';\n')
  }
  return [...TABLE_NAMES.map(create), OF_ONE_DATABASE[store]].join(';\n')
}
