import { StoreError } from '../store.ts'
import type { Connection, Session } from './connection.ts'
import { transaction } from './transaction.ts'

/** Each entry brings the schema from the version of its index to the next. Never edited, only added to. */
export const MIGRATIONS: readonly string[] = [
  `
  -- Daemons that live, each by its lease. Ordered by joined.
  CREATE TABLE callwatch.members (
    id uuid PRIMARY KEY,
    joined bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    note text NOT NULL,             -- JSON, what others may show of it
    ends timestamptz NOT NULL       -- the lease, by the database's clock
  ) WITH (fillfactor = 50);

  -- What all members must agree in.
  CREATE TABLE callwatch.settings (
    single integer PRIMARY KEY CHECK (single = 1),
    data text NOT NULL              -- JSON of store/sharing.ts Settings
  );

  CREATE TABLE callwatch.targets (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    fingerprint text NOT NULL,
    seq bigint NOT NULL,            -- of the last commit
    facts text NOT NULL,            -- JSON of ledger/state.ts Facts
    owner uuid REFERENCES callwatch.members (id) ON DELETE SET NULL,
    epoch bigint NOT NULL DEFAULT 0 -- how often it was claimed: with seq the fence against whoever owned it before
  ) WITH (fillfactor = 50);
  CREATE INDEX targets_by_owner ON callwatch.targets (owner);

  -- Remembered calls and the history of finished ones in one table: a call moves from one to the other by one column.
  CREATE TABLE callwatch.calls (
    target integer NOT NULL,        -- targets.number
    id text NOT NULL,
    finished double precision,      -- when a counted call finished, UNIX seconds
    remembered boolean NOT NULL,
    data bytea NOT NULL,            -- ledger/call-record.ts
    PRIMARY KEY (target, id)
  );
  CREATE INDEX calls_by_finish ON callwatch.calls (target, remembered, finished);
  CREATE INDEX history_by_age ON callwatch.calls (finished) WHERE NOT remembered;

  CREATE TABLE callwatch.counters (
    target integer NOT NULL,
    series text NOT NULL,           -- ledger/series.ts seriesKey
    value double precision NOT NULL CHECK (value <> 'NaN'),
    PRIMARY KEY (target, series)
  ) WITH (fillfactor = 70);

  CREATE TABLE callwatch.alerts (
    target integer NOT NULL,
    alert text NOT NULL,
    data text NOT NULL,             -- JSON of alerts/alert-instance.ts AlertInstance
    PRIMARY KEY (target, alert)
  ) WITH (fillfactor = 70);

  -- Participant minutes by quarter of an hour (UNIX seconds), for budgets and digests.
  CREATE TABLE callwatch.usage (
    target integer NOT NULL,
    quarter bigint NOT NULL,
    minutes double precision NOT NULL CHECK (minutes <> 'NaN'),
    PRIMARY KEY (target, quarter)
  );
  CREATE INDEX usage_by_age ON callwatch.usage (quarter);

  -- When rules were judged, for backtest.
  CREATE TABLE callwatch.evaluations (
    target integer NOT NULL,
    hour bigint NOT NULL,           -- UNIX seconds
    data text NOT NULL,             -- evaluation-log.ts
    PRIMARY KEY (target, hour)
  );
  CREATE INDEX evaluations_by_age ON callwatch.evaluations (hour);

  -- What was committed lately, for those who follow a target that another one owns. At most one commit a sequence number.
  CREATE TABLE callwatch.commits (
    target integer NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    -- Which one it is: after a fail-over that took a commit back, another one may come under its number.
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    data bytea NOT NULL,            -- commit-log.ts
    PRIMARY KEY (target, seq)
  );
  CREATE INDEX commits_by_age ON callwatch.commits (at);

  CREATE TABLE callwatch.outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    notifier text NOT NULL,
    claimed boolean NOT NULL DEFAULT false,
    data text NOT NULL              -- JSON of store.ts Outgoing
  );

  -- Who was told that an alert fires, to be told of its end.
  CREATE TABLE callwatch.receivers (
    target text NOT NULL,           -- targets.name, which may be gone by then
    alert text NOT NULL,
    notifier text NOT NULL,
    PRIMARY KEY (target, alert, notifier)
  );

  -- What was put out under a name, so that it is not put out again.
  CREATE TABLE callwatch.put_out (
    name text PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT statement_timestamp()
  );

  CREATE TABLE callwatch.silences (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    until double precision NOT NULL, -- UNIX seconds by the host's clock
    data text NOT NULL              -- JSON of alerts/silence.ts Silence
  );

  CREATE TABLE callwatch.holds (
    key text PRIMARY KEY,
    until double precision NOT NULL -- UNIX seconds by the host's clock
  );
  `,
  `
  -- What each member goes by. All are to go by what was declared last, of those who live.
  ALTER TABLE callwatch.members
    ADD COLUMN settings text NOT NULL DEFAULT '{}', -- JSON of store/settings.ts Settings
    ADD COLUMN declared bigint GENERATED ALWAYS AS IDENTITY;
  DROP TABLE callwatch.settings;
  `,
  `
  -- What was counted of calls whose rows were deleted. A target that is older than this table has no rows here.
  CREATE TABLE callwatch.settled (
    target integer NOT NULL,
    quantity text NOT NULL,         -- ledger/balance.ts Quantity
    value double precision NOT NULL CHECK (value <> 'NaN'),
    PRIMARY KEY (target, quantity)
  ) WITH (fillfactor = 70);
  `,
]

/** "call" in ASCII: whoever brings the schema forward, or joins, does so alone. Held until the transaction ends. */
export const LOCK = 'SELECT pg_advisory_xact_lock(1667329132)'

/**
 * Brings a database to this program's schema, each step whole or not at all. Several daemons may do so at once.
 *
 * @throws {StoreError} refused: of a newer callwatch, or without the privilege
 */
export async function migrate(connection: Connection, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  for (let version = await checkSchema(connection, migrations.length); version < migrations.length;) {
    const from = version
    version = await transaction(connection, async (session) => {
      await session.run(LOCK)
      // Another one may have done it while this one waited.
      const found = await checkSchema(connection, migrations.length)
      if (found !== from) return found
      // CREATE SCHEMA wants a privilege even where the schema is there.
      if (!(await hasSchema(session))) await session.run('CREATE SCHEMA callwatch')
      await session.run('CREATE TABLE IF NOT EXISTS callwatch.schema_version (version integer NOT NULL)')
      await session.run(migrations[from]!)
      await session.run(`DELETE FROM callwatch.schema_version`)
      await session.run(`INSERT INTO callwatch.schema_version VALUES (${from + 1})`)
      return from + 1
    })
  }
}

/**
 * Makes sure that a database can be read as it is.
 *
 * @throws {StoreError} refused: as for {@link migrate}, and one that this program's daemon has not brought to its schema yet
 */
export async function expectSchema(connection: Connection): Promise<void> {
  const version = await checkSchema(connection, MIGRATIONS.length)
  if (version === MIGRATIONS.length) return
  const { place } = connection
  throw new StoreError(
    'refused',
    version === 0
      ? `${place} holds nothing of callwatch: its name is another one, or callwatch has not run with it yet`
      : `${place} was last used by an older callwatch (schema ${version}, this one reads ${MIGRATIONS.length}); let this one's \`callwatch run\` use it first`,
  )
}

/** The version of the schema, 0 where there is none; none that is newer than `newest`. */
async function checkSchema(connection: Connection, newest: number): Promise<number> {
  const version = await versionOf(connection)
  if (version <= newest) return version
  throw new StoreError(
    'refused',
    `${connection.place} was written by a newer callwatch (schema ${version}, this one knows ${newest}); upgrade this one`,
  )
}

async function versionOf(session: Session): Promise<number> {
  // The catalogue itself: to_regclass may still answer what was so before this transaction waited for the lock.
  const found = await session.run(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'callwatch' AND tablename = 'schema_version'",
  )
  if (found.length === 0) return 0
  const [row] = await session.run('SELECT version FROM callwatch.schema_version')
  return Number(row?.['version'] ?? 0)
}

async function hasSchema(session: Session): Promise<boolean> {
  const found = await session.run("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'callwatch'")
  return found.length > 0
}
