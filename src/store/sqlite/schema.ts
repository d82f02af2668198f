import type { DatabaseSync } from 'node:sqlite'
import { packCall } from '../../ledger/call-record.ts'
import { callFromJson } from './json-call.ts'
import { StoreError } from '../store.ts'

/** Marks a file as ours ("call" in ASCII), so that another program's database is never written to. */
const APPLICATION_ID = 0x63616c6c

/** Each entry brings the schema from the version of its index to the next. Never edited, only added to. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE targets (
    name TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,   -- of the last commit: the fence against a second writer
    facts TEXT NOT NULL     -- JSON of ledger/state.ts Facts
  ) STRICT, WITHOUT ROWID;

  -- Remembered calls and the history of finished ones in one table: a call moves from one to the other by one column.
  CREATE TABLE calls (
    target TEXT NOT NULL,
    id TEXT NOT NULL,
    finished REAL,          -- when a counted call finished, UNIX seconds
    remembered INTEGER NOT NULL,
    data TEXT NOT NULL,     -- pack-call.ts
    PRIMARY KEY (target, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX calls_by_finish ON calls (target, finished) WHERE finished IS NOT NULL;

  CREATE TABLE counters (
    target TEXT NOT NULL,
    series TEXT NOT NULL,   -- ledger/series.ts seriesKey
    value REAL NOT NULL,
    PRIMARY KEY (target, series)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE alerts (
    target TEXT NOT NULL,
    alert TEXT NOT NULL,
    data TEXT NOT NULL,     -- JSON of alerts/alert-instance.ts AlertInstance
    PRIMARY KEY (target, alert)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    notifier TEXT NOT NULL,
    data TEXT NOT NULL      -- JSON of alerts/notification.ts Notification
  ) STRICT;

  CREATE TABLE holds (
    key TEXT PRIMARY KEY,
    until REAL NOT NULL     -- UNIX seconds by the host's clock
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE holder (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    who TEXT NOT NULL       -- which daemon uses this store, for the one that finds it taken
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE outbox ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;

  -- Participant minutes by quarter of an hour (UNIX seconds), for budgets and digests.
  CREATE TABLE usage (
    target TEXT NOT NULL,
    quarter INTEGER NOT NULL,
    minutes REAL NOT NULL,
    PRIMARY KEY (target, quarter)
  ) STRICT, WITHOUT ROWID;

  -- When rules were judged, for backtest.
  CREATE TABLE evaluations (
    target TEXT NOT NULL,
    hour INTEGER NOT NULL,  -- UNIX seconds
    data TEXT NOT NULL,     -- evaluation-log.ts
    PRIMARY KEY (target, hour)
  ) STRICT, WITHOUT ROWID;

  -- Who was told that an alert fires, to be told of its end.
  CREATE TABLE receivers (
    target TEXT NOT NULL,
    alert TEXT NOT NULL,
    notifier TEXT NOT NULL,
    PRIMARY KEY (target, alert, notifier)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE silences (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    until REAL NOT NULL,    -- UNIX seconds by the host's clock
    data TEXT NOT NULL      -- JSON of alerts/silence.ts Silence
  ) STRICT;

  -- What was put out under a name, so that it is not put out again.
  CREATE TABLE put_out (
    name TEXT PRIMARY KEY,
    at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- A finish now also says when its call began, how long it rang and lasted, its minutes, and when it was seen by the host's clock.
  UPDATE calls SET data = json_insert(
    data,
    '$[10][#]', coalesce(data ->> 4, data ->> 5, data ->> 6, data ->> 3),
    '$[10][#]', CASE WHEN data ->> '$[10][0]' = 'ended' AND data ->> 5 >= data ->> 4 THEN data ->> 5 - data ->> 4 END,
    '$[10][#]', CASE WHEN data ->> '$[10][0]' = 'ended' AND data ->> 6 >= data ->> 5 THEN data ->> 6 - data ->> 5 END,
    '$[10][#]', coalesce(data ->> '$[9][0]', 0),
    '$[10][#]', coalesce(data ->> '$[9][1]', 0),
    '$[10][#]', data ->> '$[10][3]'
  ) WHERE json_type(data, '$[10]') = 'array';

  -- Rules name their signal in a part of its own, and have a side on which the trouble lies.
  UPDATE alerts SET data = json_set(
    json_remove(data, '$.rule.above', '$.rule.reason', '$.rule.window', '$.rule.minCalls'),
    '$.key', alert,
    '$.labels', json('{}'),
    '$.calls', data ->> '$.counts.total',
    '$.toldAt', data ->> '$.firingSince',
    '$.rule.breach', 'above',
    '$.rule.threshold', data ->> '$.rule.above',
    '$.rule.match', json('{}'),
    '$.rule.by', json('[]'),
    '$.rule.keepFiringFor', 0,
    '$.rule.repeat', 0,
    '$.rule.signal', json(iif(data ->> '$.rule.signal' = 'poll_age', json_object('name', 'poll_age'), json_object(
      'name', 'failure_ratio', 'reason', data ->> '$.rule.reason', 'window', data ->> '$.rule.window',
      'minCalls', data ->> '$.rule.minCalls')))
  );
  UPDATE outbox SET data = json_set(
    json_remove(data, '$.reason', '$.window'),
    '$.key', data ->> '$.alert',
    '$.labels', json('{}'),
    '$.match', json('{}'),
    '$.breach', 'above',
    '$.signal', json(iif(data ->> '$.signal' = 'poll_age', json_object('name', 'poll_age'), json_object(
      'name', 'failure_ratio', 'reason', data ->> '$.reason', 'window', data ->> '$.window', 'minCalls', 1)))
  );
  `,
  `
  -- A short number instead of the name in each row of calls and of their indexes.
  ALTER TABLE targets ADD COLUMN number INTEGER;
  UPDATE targets SET number = (SELECT count(*) FROM targets AS others WHERE others.name <= targets.name);
  CREATE UNIQUE INDEX targets_by_number ON targets (number);

  -- Rows are appended, and found by what is small: in one tree with their ids, calls listed newest first wrote each page twice.
  CREATE TABLE packed_calls (
    target INTEGER NOT NULL,      -- targets.number
    id TEXT NOT NULL,
    finished REAL,                -- when a counted call finished, UNIX seconds
    remembered INTEGER NOT NULL,
    data BLOB NOT NULL,           -- ledger/call-record.ts
    UNIQUE (target, id)
  ) STRICT;
  INSERT INTO packed_calls (target, id, finished, remembered, data)
    SELECT number, id, finished, remembered, record_of_json(id, data) FROM calls JOIN targets ON name = target;
  DROP TABLE calls;
  ALTER TABLE packed_calls RENAME TO calls;
  CREATE INDEX calls_by_finish ON calls (target, remembered, finished);
  `,
  `
  -- What was counted of calls whose rows were deleted. A target that is older than this table has no rows here.
  CREATE TABLE settled (
    target TEXT NOT NULL,
    quantity TEXT NOT NULL,       -- ledger/balance.ts Quantity
    value REAL NOT NULL,
    PRIMARY KEY (target, quantity)
  ) STRICT, WITHOUT ROWID;
  `,
]

/**
 * Brings an opened database to this program's schema, whole or not at all.
 *
 * @throws {StoreError} refused: another program's file, a newer callwatch's, or a damaged one
 */
export function migrate(db: DatabaseSync, path: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = checkSchema(db, path, migrations.length)
  if (version === migrations.length) return
  db.function('record_of_json', (id, data) => packCall(callFromJson(String(id), String(data))))
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const migration of migrations.slice(version)) db.exec(migration)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length}; COMMIT`)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/**
 * Makes sure that an opened database can be read as it is.
 *
 * @throws {StoreError} refused: as for {@link migrate}, and one that this program's daemon has not brought to its schema yet
 */
export function expectSchema(db: DatabaseSync, path: string): void {
  const version = checkSchema(db, path, MIGRATIONS.length)
  if (version === MIGRATIONS.length) return
  throw new StoreError(
    'refused',
    version === 0
      ? `${path} holds nothing of callwatch: its name is another one, or callwatch has not run with it yet`
      : `${path} was last used by an older callwatch (schema ${version}, this one reads ${MIGRATIONS.length}); let this one's \`callwatch run\` use it first`,
  )
}

/** The version of a database's schema, 0 of an empty one; none that is newer than `newest`. */
function checkSchema(db: DatabaseSync, path: string, newest: number): number {
  const applicationId = readPragma(db, 'application_id')
  const version = readPragma(db, 'user_version')
  const isEmpty = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
  if (!isEmpty && applicationId !== APPLICATION_ID) {
    throw new StoreError('refused', `${path} is a database of another program; name another file in store.path`)
  }
  if (version > newest) {
    throw new StoreError(
      'refused',
      `${path} was written by a newer callwatch (schema ${version}, this one knows ${newest}); upgrade this one`,
    )
  }
  const damage = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (damage !== 'ok') {
    throw new StoreError('refused', `${path} is damaged (${String(damage)}); restore it from a backup`)
  }
  return version
}

function readPragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}
