import type { DatabaseSync } from 'node:sqlite'
import { refuseNewer, refuseOlder } from '../schema-version.ts'
import { StoreError } from '../store.ts'
import { BASELINE_CODE } from '../../ledger/history-columns.ts'
import { alertHistory, callHistory } from '../documented-relations.ts'

/** Marks a file as ours, so that another program's database is never written to: "cwat" in ASCII. */
const APPLICATION_ID = 0x63776174

/** Each entry brings the schema from the version of its index to the next. Once released, never edited, only added to. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE targets (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,           -- of the last commit: the fence against a second writer
    sync TEXT NOT NULL,             -- JSON of ledger/state.ts SyncState
    removed REAL,                   -- when it left the configuration: UNIX seconds by the service's clock; null while it is in it
    expired REAL                    -- calls that finished up to then may be deleted; null before the first one is
  ) STRICT;

  -- Tracked calls and the history of evicted ones in one table: a call moves from one to the other by one column.
  -- Rows are appended, and found by what is small: in one tree with their ids, calls listed newest first wrote each page twice.
  CREATE TABLE calls (
    target INTEGER NOT NULL,        -- targets.number
    id TEXT NOT NULL,
    tracked INTEGER NOT NULL,
    data BLOB NOT NULL,             -- ledger/call-record.ts
    -- What SQL reads of it: ledger/history-columns.ts. Times are UNIX seconds.
    finished REAL,                  -- or was lost
    status INTEGER NOT NULL,
    labels INTEGER NOT NULL,
    began REAL NOT NULL,
    noticed REAL,
    duration REAL,
    answer_delay REAL,
    participants REAL,
    audio REAL NOT NULL,
    video REAL NOT NULL,
    participant_audio REAL NOT NULL,
    participant_video REAL NOT NULL,
    recorded INTEGER NOT NULL,
    UNIQUE (target, id)
  ) STRICT;
  CREATE INDEX calls_by_finish ON calls (target, finished, status, labels, recorded);
  CREATE INDEX tracked_calls ON calls (target) WHERE tracked = 1;
  CREATE INDEX open_calls ON calls (target) WHERE finished IS NULL AND status <> ${BASELINE_CODE};

  -- For users. The targets are the outer loop: so calls are found by when they finished.
  CREATE VIEW call_history AS ${callHistory('sqlite')};

  CREATE TABLE counters (
    target INTEGER NOT NULL,
    series TEXT NOT NULL,           -- ledger/series.ts seriesKey
    value REAL NOT NULL,
    PRIMARY KEY (target, series)
  ) STRICT, WITHOUT ROWID;

  -- What was counted of calls whose rows were deleted.
  CREATE TABLE deleted_call_totals (
    target INTEGER NOT NULL,
    quantity TEXT NOT NULL,         -- ledger/balance.ts Quantity
    value REAL NOT NULL,
    PRIMARY KEY (target, quantity)
  ) STRICT, WITHOUT ROWID;

  -- When no poll of a target was successful, by the service's clock (UNIX seconds).
  CREATE TABLE gaps (
    target INTEGER NOT NULL,
    began REAL NOT NULL,
    ended REAL NOT NULL,
    PRIMARY KEY (target, ended)
  ) STRICT, WITHOUT ROWID;

  -- What finished in a quarter of an hour, and in an hour, added up: history/rollup.ts.
  CREATE TABLE rollups (
    target INTEGER NOT NULL,        -- 0: all targets together
    width INTEGER NOT NULL,         -- seconds
    at INTEGER NOT NULL,            -- UNIX seconds
    by_labels BLOB NOT NULL,
    without_labels BLOB NOT NULL,
    PRIMARY KEY (target, width, at)
  ) STRICT;

  -- Quarters of an hour with calls that have changed since they were added up.
  CREATE TABLE stale_rollups (
    quarter INTEGER NOT NULL,       -- UNIX seconds
    target INTEGER NOT NULL,
    version INTEGER NOT NULL,       -- rises with each change
    PRIMARY KEY (quarter, target)
  ) STRICT, WITHOUT ROWID;

  -- How often rollups were saved, or what they were added up from was deleted with its target.
  CREATE TABLE rollup_saves (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    n INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE alerts (
    target INTEGER NOT NULL,
    alert TEXT NOT NULL,
    data TEXT NOT NULL,             -- JSON of alerts/alert-instance.ts AlertInstance
    PRIMARY KEY (target, alert)
  ) STRICT, WITHOUT ROWID;

  -- Participant minutes by quarter of an hour (UNIX seconds), for budgets and digests.
  CREATE TABLE usage (
    target INTEGER NOT NULL,
    quarter INTEGER NOT NULL,
    minutes REAL NOT NULL,
    PRIMARY KEY (target, quarter)
  ) STRICT, WITHOUT ROWID;

  -- Rule evaluations, for backtest.
  CREATE TABLE evaluations (
    target INTEGER NOT NULL,
    hour INTEGER NOT NULL,          -- UNIX seconds
    data TEXT NOT NULL,             -- evaluation-log.ts
    PRIMARY KEY (target, hour)
  ) STRICT, WITHOUT ROWID;

  -- The log of events, a row for each commit that has some. The newest row is never deleted: positions only rise.
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,               -- UUID
    target TEXT NOT NULL,           -- targets.name, which may be gone by then
    at REAL NOT NULL,               -- UNIX seconds by the host's clock
    n INTEGER NOT NULL,             -- how many
    total INTEGER NOT NULL,         -- how many the log has had, these included
    data TEXT NOT NULL,             -- JSON of events/event.ts EventBody, one a line
    participants TEXT NOT NULL DEFAULT '' -- JSON of the participants of each, one a line; empty where none has any
  ) STRICT;
  CREATE INDEX events_by_age ON events (at);
  CREATE INDEX events_with_participants ON events (position) WHERE participants <> '';

  -- The webhooks of events.
  CREATE TABLE webhooks (
    name TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,      -- how often the row was saved
    data TEXT NOT NULL              -- JSON of webhook-store.ts WebhookProgress
  ) STRICT, WITHOUT ROWID;

  -- Events before the cursor of a webhook that were not delivered to it.
  CREATE TABLE undelivered (
    webhook TEXT NOT NULL,          -- webhooks.name
    position INTEGER NOT NULL,      -- events.position
    place INTEGER NOT NULL,         -- in the commit
    dead INTEGER NOT NULL,          -- whether it is a dead letter
    data TEXT NOT NULL,             -- JSON of the rest of webhook-store.ts UndeliveredEvent
    PRIMARY KEY (webhook, dead, position, place)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    claimed INTEGER NOT NULL DEFAULT 0,
    data TEXT NOT NULL              -- JSON of store.ts OutboxContent
  ) STRICT;

  -- The receivers that were notified of a firing alert, for its end.
  CREATE TABLE recipients (
    target TEXT NOT NULL,           -- targets.name, which may be gone by then
    alert TEXT NOT NULL,
    receiver TEXT NOT NULL,
    PRIMARY KEY (target, alert, receiver)
  ) STRICT, WITHOUT ROWID;

  -- The history of alerts: a row from when one begins to fire, written with each of its changes.
  CREATE TABLE alert_episodes (
    target TEXT NOT NULL,           -- targets.name, which may be gone by then
    alert TEXT NOT NULL,
    since REAL NOT NULL,            -- firing since: UNIX seconds by the host's clock
    until REAL,                     -- null while it fires
    rule TEXT NOT NULL,
    severity TEXT NOT NULL,
    data TEXT NOT NULL,             -- JSON of alerts/episode.ts Episode
    notes TEXT NOT NULL DEFAULT '', -- of its delivery: alerts/episode.ts EpisodeNote
    PRIMARY KEY (target, alert, since)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX alert_episodes_by_age ON alert_episodes (until);
  CREATE INDEX alert_episodes_by_begin ON alert_episodes (since);

  -- For users.
  CREATE VIEW alert_history AS ${alertHistory('sqlite')};

  -- Under which keys something was enqueued once.
  CREATE TABLE deduplication_keys (
    key TEXT PRIMARY KEY,
    at REAL NOT NULL DEFAULT (unixepoch('now')) -- UNIX seconds
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE silences (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    until REAL NOT NULL,            -- UNIX seconds by the host's clock
    data TEXT NOT NULL              -- JSON of alerts/match.ts Silence
  ) STRICT;

  -- Rate limit pauses.
  CREATE TABLE pauses (
    key TEXT PRIMARY KEY,
    until REAL NOT NULL             -- UNIX seconds by the host's clock
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE holder (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    who TEXT NOT NULL               -- the daemon that uses this store, to be named to another one
  ) STRICT, WITHOUT ROWID;
  `,
]

/**
 * Migrates an opened database to this program's schema, whole or not at all.
 *
 * @throws {StoreError} refused: another program's file, a newer callwatch's, or a damaged one
 */
export function migrate(db: DatabaseSync, path: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = checkSchema(db, path, migrations.length)
  expectUndamaged(db, path)
  if (version === migrations.length) return
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
 * @throws {StoreError} refused: as for {@link migrate} but for damage, and one that this program's daemon has not migrated yet
 */
export function expectSchema(db: DatabaseSync, path: string, migrations: readonly string[] = MIGRATIONS): void {
  refuseOlder(path, checkSchema(db, path, migrations.length), migrations.length)
}

/** The version of a database's schema, 0 of an empty one; none that is newer than `newest`. */
function checkSchema(db: DatabaseSync, path: string, newest: number): number {
  const version = readPragma(db, 'user_version')
  const isEmpty = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
  if (!isEmpty && readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StoreError(
      'refused',
      `${path} is no store of callwatch: another program's database, or one of an unreleased version; name another file in store.path`,
    )
  }
  refuseNewer(path, version, newest)
  return version
}

/**
 * Makes sure that no page of a database is damaged. Reads all of it.
 *
 * @throws {StoreError} refused: one is
 */
export function expectUndamaged(db: DatabaseSync, path: string): void {
  const damage = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (damage === 'ok') return
  // The first line says which database.
  const what = String(damage).split('\n').at(-1)
  throw new StoreError('refused', `${path} is damaged (${what}); restore it from a backup`)
}

function readPragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}
