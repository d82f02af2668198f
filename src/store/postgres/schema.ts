import { BASELINE_CODE } from '../../ledger/history-columns.ts'
import { alertHistory, callHistory } from '../documented-relations.ts'
import { refuseNewer, refuseOlder } from '../schema-version.ts'
import type { Connection, Session } from './connection.ts'
import { transaction } from './transaction.ts'

/** Each entry brings the schema from the version of its index to the next. Once released, never edited, only added to. */
export const MIGRATIONS: readonly string[] = [
  `
  -- The living daemons, each by its lease, in the order of joined.
  CREATE TABLE callwatch.members (
    id uuid PRIMARY KEY,
    joined bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    note text NOT NULL,             -- JSON, shown by the others
    ends timestamptz NOT NULL,      -- the lease, by the database's clock
    -- The settings that it uses. All must use those that a living member declared last.
    settings text NOT NULL,         -- JSON of store/settings.ts Settings
    declared bigint GENERATED ALWAYS AS IDENTITY
  ) WITH (fillfactor = 50);

  CREATE TABLE callwatch.targets (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    fingerprint text NOT NULL,
    seq bigint NOT NULL,            -- of the last commit
    sync text NOT NULL,             -- JSON of ledger/state.ts SyncState
    removed double precision,       -- when it left the configuration: UNIX seconds by the service's clock; null while it is in it
    expired double precision,       -- calls that finished up to then may be deleted; null before the first one is
    owner uuid REFERENCES callwatch.members (id) ON DELETE SET NULL,
    epoch bigint NOT NULL DEFAULT 0 -- how often it was claimed: with seq the fence against earlier owners
  ) WITH (fillfactor = 50);
  CREATE INDEX targets_by_owner ON callwatch.targets (owner);

  -- Tracked calls and the history of evicted ones in one table: a call moves from one to the other by one column.
  CREATE TABLE callwatch.calls (
    target integer NOT NULL,        -- targets.number
    id text COLLATE "C" NOT NULL,
    tracked boolean NOT NULL,
    data bytea NOT NULL,            -- ledger/call-record.ts
    -- What SQL reads of it: ledger/history-columns.ts. Times are UNIX seconds.
    finished double precision,      -- or was lost
    status smallint NOT NULL,
    labels smallint NOT NULL,
    began double precision NOT NULL,
    noticed double precision,
    duration double precision,
    answer_delay double precision,
    participants double precision,
    audio double precision NOT NULL,
    video double precision NOT NULL,
    participant_audio double precision NOT NULL,
    participant_video double precision NOT NULL,
    recorded boolean NOT NULL,
    -- A column, not a condition: an update of other columns need not touch any index.
    is_open boolean NOT NULL GENERATED ALWAYS AS (finished IS NULL AND status <> ${BASELINE_CODE}) STORED,
    PRIMARY KEY (target, id)
  );
  CREATE INDEX open_calls ON callwatch.calls (target) WHERE is_open;
  CREATE INDEX tracked_calls ON callwatch.calls (target) WHERE tracked;
  CREATE INDEX calls_by_finish ON callwatch.calls (target, finished, status, labels, recorded);
  CREATE INDEX history_by_age ON callwatch.calls (finished) WHERE NOT tracked;
  -- The same time as in call_history: its ranges of time find nothing by calls_by_finish.
  CREATE INDEX calls_by_finish_time ON callwatch.calls (to_timestamp(finished), target);

  -- For users.
  CREATE VIEW callwatch.call_history AS ${callHistory('postgres')};

  CREATE TABLE callwatch.counters (
    target integer NOT NULL,
    series text NOT NULL,           -- ledger/series.ts seriesKey
    value double precision NOT NULL CHECK (value <> 'NaN'),
    PRIMARY KEY (target, series)
  ) WITH (fillfactor = 70);

  -- When no poll of a target was successful, by the service's clock (UNIX seconds).
  CREATE TABLE callwatch.gaps (
    target integer NOT NULL,
    began double precision NOT NULL,
    ended double precision NOT NULL,
    PRIMARY KEY (target, ended)
  );

  -- What finished in a quarter of an hour, and in an hour, added up: history/rollup.ts.
  CREATE TABLE callwatch.rollups (
    target integer NOT NULL,        -- 0: all targets together
    width integer NOT NULL,         -- seconds
    at bigint NOT NULL,             -- UNIX seconds
    by_labels bytea NOT NULL,
    without_labels bytea NOT NULL,
    PRIMARY KEY (target, width, at)
  );

  -- Quarters of an hour with calls that have changed since they were added up.
  CREATE TABLE callwatch.stale_rollups (
    quarter bigint NOT NULL,        -- UNIX seconds
    target integer NOT NULL,
    version bigint NOT NULL,        -- rises with each change
    PRIMARY KEY (quarter, target)
  ) WITH (fillfactor = 50);

  -- How often rollups were saved, or what they were added up from was deleted with its target.
  CREATE TABLE callwatch.rollup_saves (
    id integer PRIMARY KEY CHECK (id = 1),
    n bigint NOT NULL
  );

  CREATE TABLE callwatch.alerts (
    target integer NOT NULL,
    alert text NOT NULL,
    data text NOT NULL,             -- JSON of alerts/alert-instance.ts AlertInstance
    PRIMARY KEY (target, alert)
  ) WITH (fillfactor = 70);

  -- What was counted of calls whose rows were deleted.
  CREATE TABLE callwatch.deleted_call_totals (
    target integer NOT NULL,
    quantity text NOT NULL,         -- ledger/balance.ts Quantity
    value double precision NOT NULL CHECK (value <> 'NaN'),
    PRIMARY KEY (target, quantity)
  ) WITH (fillfactor = 70);

  -- Participant minutes by quarter of an hour (UNIX seconds), for budgets and digests.
  CREATE TABLE callwatch.usage (
    target integer NOT NULL,
    quarter bigint NOT NULL,
    minutes double precision NOT NULL CHECK (minutes <> 'NaN'),
    PRIMARY KEY (target, quarter)
  );
  CREATE INDEX usage_by_age ON callwatch.usage (quarter);

  -- Rule evaluations, for backtest.
  CREATE TABLE callwatch.evaluations (
    target integer NOT NULL,
    hour bigint NOT NULL,           -- UNIX seconds
    data text NOT NULL,             -- evaluation-log.ts
    PRIMARY KEY (target, hour)
  );
  CREATE INDEX evaluations_by_age ON callwatch.evaluations (hour);

  -- The latest commits: at most one a sequence number, whoever wrote it.
  CREATE TABLE callwatch.commits (
    target integer NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (target, seq)
  );
  CREATE INDEX commits_by_age ON callwatch.commits (at);

  -- What the owner of a target shows of it to the other daemons.
  CREATE TABLE callwatch.overviews (
    target integer PRIMARY KEY,
    data text NOT NULL,
    changed xid8 NOT NULL DEFAULT pg_current_xact_id()
  ) WITH (fillfactor = 50);
  CREATE INDEX overviews_by_change ON callwatch.overviews (changed);

  -- The log of events, a row for each commit that has some. Its order is not that of serial, of which a lower one may become
  -- visible later: the leader gives positions to rows that are visible. The newest of them is never deleted: positions only rise.
  CREATE TABLE callwatch.events (
    serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    position bigint UNIQUE,
    id text NOT NULL,               -- UUID
    target text NOT NULL,           -- targets.name, which may be gone by then
    at double precision NOT NULL,   -- UNIX seconds by the host's clock
    n integer NOT NULL,             -- how many
    total bigint,                   -- how many the log has had, these included; comes with the position
    data text NOT NULL,             -- JSON of events/event.ts EventBody, one a line
    participants text NOT NULL DEFAULT '' -- JSON of the participants of each, one a line; empty where none has any
  ) WITH (fillfactor = 70);
  CREATE INDEX events_without_position ON callwatch.events (serial) WHERE position IS NULL;
  CREATE INDEX events_by_age ON callwatch.events (at);
  CREATE INDEX events_with_participants ON callwatch.events (serial) WHERE participants <> '';

  -- The webhooks of events.
  CREATE TABLE callwatch.webhooks (
    name text PRIMARY KEY,
    revision bigint NOT NULL,       -- how often the row was saved
    data text NOT NULL              -- JSON of webhook-store.ts WebhookProgress
  ) WITH (fillfactor = 50);

  -- Events before the cursor of a webhook that were not delivered to it.
  CREATE TABLE callwatch.undelivered (
    webhook text NOT NULL,          -- webhooks.name
    position bigint NOT NULL,       -- events.position
    place integer NOT NULL,         -- in the commit
    dead boolean NOT NULL,          -- whether it is a dead letter
    data text NOT NULL,             -- JSON of the rest of webhook-store.ts UndeliveredEvent
    PRIMARY KEY (webhook, dead, position, place)
  );

  CREATE TABLE callwatch.outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    receiver text NOT NULL,
    claimed boolean NOT NULL DEFAULT false,
    data text NOT NULL              -- JSON of store.ts OutboxContent
  );

  -- The receivers that were notified of a firing alert, for its end.
  CREATE TABLE callwatch.recipients (
    target text NOT NULL,           -- targets.name, which may be gone by then
    alert text NOT NULL,
    receiver text NOT NULL,
    PRIMARY KEY (target, alert, receiver)
  );

  -- The history of alerts: a row from when one begins to fire, written with each of its changes.
  CREATE TABLE callwatch.alert_episodes (
    target text COLLATE "C" NOT NULL, -- targets.name, which may be gone by then
    alert text COLLATE "C" NOT NULL,
    since double precision NOT NULL, -- firing since: UNIX seconds by the host's clock
    until double precision,         -- null while it fires
    rule text NOT NULL,
    severity text NOT NULL,
    data text NOT NULL,             -- JSON of alerts/episode.ts Episode
    notes text NOT NULL DEFAULT '', -- of its delivery: alerts/episode.ts EpisodeNote
    PRIMARY KEY (target, alert, since)
  );
  CREATE INDEX alert_episodes_by_age ON callwatch.alert_episodes (until);
  CREATE INDEX alert_episodes_by_begin ON callwatch.alert_episodes (since);

  -- For users.
  CREATE VIEW callwatch.alert_history AS ${alertHistory('postgres')};

  -- Under which keys something was enqueued once.
  CREATE TABLE callwatch.deduplication_keys (
    key text PRIMARY KEY,
    at double precision NOT NULL DEFAULT extract(epoch FROM statement_timestamp()) -- UNIX seconds
  );

  CREATE TABLE callwatch.silences (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    until double precision NOT NULL, -- UNIX seconds by the host's clock
    data text NOT NULL              -- JSON of alerts/match.ts Silence
  );

  -- Rate limit pauses.
  CREATE TABLE callwatch.pauses (
    key text PRIMARY KEY,
    until double precision NOT NULL -- UNIX seconds by the host's clock
  );
  `,
]

const VERSION_TABLE = 'CREATE TABLE IF NOT EXISTS callwatch.schema_version (version integer NOT NULL)'

/** "call" in ASCII: only one daemon at a time migrates or joins. Held until the transaction ends. */
export const LOCK = 'SELECT pg_advisory_xact_lock(1667329132)'

/** So long a migration waits for a table: all that use it wait behind the migration. */
const LOCK_TIMEOUT_MS = 10_000

/**
 * Migrates a database to this program's schema, each step whole or not at all. Several daemons may do so at once.
 *
 * @throws {StoreError} refused: of a newer callwatch, or without the privilege
 */
export async function migrate(connection: Connection, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  for (let version = await checkSchema(connection, migrations.length); version < migrations.length;) {
    const from = version
    version = await transaction(connection, async (session) => {
      await session.run(LOCK)
      // Another daemon may have done it while this one waited.
      const found = await checkSchema(connection, migrations.length)
      if (found !== from) return found
      // CREATE SCHEMA wants a privilege even where the schema is there.
      if (!(await hasSchema(session))) await session.run('CREATE SCHEMA callwatch')
      await session.run(`${VERSION_TABLE}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await session.run(migrations[from]!)
      await session.run(`DELETE FROM callwatch.schema_version`)
      await session.run(`INSERT INTO callwatch.schema_version VALUES (${from + 1})`)
      return from + 1
    })
  }
}

/**
 * Whether a database has this program's schema.
 *
 * @throws {StoreError} as {@link migrate}
 */
export async function isMigrated(connection: Connection): Promise<boolean> {
  return (await checkSchema(connection, MIGRATIONS.length)) === MIGRATIONS.length
}

/**
 * Makes sure that a database can be read as it is.
 *
 * @throws {StoreError} refused: as for {@link migrate}, and one that this program's daemon has not migrated yet
 */
export async function expectSchema(connection: Connection, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  refuseOlder(connection.place, await checkSchema(connection, migrations.length), migrations.length)
}

/** The version of the schema, 0 where there is none; none that is newer than `newest`. */
async function checkSchema({ run, place }: Connection, newest: number): Promise<number> {
  // The catalogue itself: to_regclass may still answer what was so before this transaction waited for the lock.
  const found = await run(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'callwatch' AND tablename = 'schema_version'",
  )
  if (found.length === 0) return 0
  const [row] = await run('SELECT version FROM callwatch.schema_version')
  const version = Number(row!['version'])
  refuseNewer(place, version, newest)
  return version
}

async function hasSchema(session: Session): Promise<boolean> {
  const found = await session.run("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'callwatch'")
  return found.length > 0
}
