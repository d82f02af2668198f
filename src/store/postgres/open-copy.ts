import {
  COPY_BATCH,
  COPY_TABLE_NAMES,
  columnsOf,
  selectRows,
  type ColumnKind,
  type CopyRow,
  type CopySource,
  type CopyTable,
  type CopyDestination,
  type CopyValue,
} from '../copy-tables.ts'
import { BASELINE_CODE } from '../../ledger/history-columns.ts'
import { QUARTER_HOUR_SECONDS } from '../../ledger/usage.ts'
import { StoreError } from '../store.ts'
import { connectForLongStatements } from './connect-for-command.ts'
import type { Argument, Connection, Session } from './connection.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from './postgres-error.ts'
import { ALL_EVENTS } from './events.ts'
import { markStale } from './rollups.ts'
import { expectSchema, LOCK, migrate } from './schema.ts'

/**
 * Opens a store for a copy of it, and keeps every daemon away from it meanwhile; a standby is good enough.
 *
 * @throws {StoreError} refused: a daemon uses it, it is not ours or of another schema, or it refuses connections
 */
export async function openPostgresSource(url: string): Promise<CopySource> {
  const connection = await connectAlone(url, { readOnly: true, prepare: expectSchema })
  return {
    place: connection.place,
    rows: (table) => copyRows(connection, table),
    close: connection.close,
  }
}

/**
 * Opens an empty store to copy another one into it, and keeps every daemon away from it meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, a daemon uses it, it is of a newer schema, or it refuses connections
 */
export async function openPostgresDestination(url: string): Promise<CopyDestination> {
  const connection = await connectAlone(url, { readOnly: false, prepare: migrate, check: expectEmpty })
  return {
    place: connection.place,
    rows: (table) => copyRows(connection, table),
    write: async (table, rows) => void (await connection.run(insertInto(table), argumentsOf(table, rows))),
    commit: async () => {
      await connection.run(COPIED_STALE)
      for (const table of ['outbox', 'silences']) await connection.run(countOnFrom(table))
      await connection.run('COMMIT').catch((error: unknown) => {
        throw new StoreError(
          'unavailable',
          `the commit of the copy to ${connection.place} got no answer (${String(error)}); ` +
            'copy again: if it was committed, that is refused because the store is not empty',
          error,
        )
      })
    },
    // What was not committed goes with the connection.
    close: connection.close,
  }
}

/** Rollups are not copied: they are added up from the copied calls. */
const COPIED_STALE = markStale(
  `(SELECT DISTINCT floor(finished / ${QUARTER_HOUR_SECONDS})::bigint * ${QUARTER_HOUR_SECONDS} AS quarter, target FROM callwatch.calls
  WHERE finished IS NOT NULL AND status <> ${BASELINE_CODE})`,
)

type AloneOptions = {
  readOnly: boolean
  /** Makes the schema ready, before the transaction. */
  prepare: (connection: Connection) => Promise<void>
  /** Checks its rows, within the transaction. */
  check?: (connection: Connection) => Promise<void>
}

/** Connects to a database, and begins a transaction for as long as which no daemon can begin to use it. */
async function connectAlone(url: string, { readOnly, prepare, check }: AloneOptions): Promise<Connection> {
  const connection = await connectForLongStatements(url, { readOnly })
  try {
    await prepare(connection)
    // This transaction waits for the other side, which may be slow.
    await connection.run("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '2s'")
    await takeLock(connection)
    await expectUnused(connection)
    await check?.(connection)
    return connection
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function takeLock({ run, place }: Connection): Promise<void> {
  try {
    await run(LOCK)
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
    throw new StoreError(
      'refused',
      `${place} is locked: a daemon is starting, another copy is running, or --from and --to are the same store`,
      error,
    )
  }
}

async function expectUnused({ run, place }: Connection): Promise<void> {
  const members = await run('SELECT name FROM callwatch.members WHERE ends > statement_timestamp() ORDER BY joined')
  if (members.length === 0) return
  throw new StoreError(
    'refused',
    `${place} is in use by ${members.map(({ name }) => String(name)).join(' and ')}; ` +
      'stop every daemon on it before a store is copied (one that died counts until its lease expires)',
  )
}

async function expectEmpty({ run, place }: Connection): Promise<void> {
  const tables = COPY_TABLE_NAMES.map((table) => `EXISTS (SELECT FROM callwatch.${table}) AS ${table}`)
  const [row] = await run(`SELECT ${tables.join(', ')}`)
  const filled = COPY_TABLE_NAMES.filter((table) => row![table] === true)
  if (filled.length === 0) return
  throw new StoreError('refused', `${place} is not empty: it has ${filled.join(', ')}; name an empty database`)
}

let cursors = 0

/** The rows of a table, in batches. Within a transaction: they are taken from a cursor. */
async function* copyRows({ run }: Session, table: CopyTable): AsyncGenerator<readonly CopyRow[]> {
  const columns = columnsOf(table)
  // Whatever the language of the database is.
  const instead = { events: `(${ALL_EVENTS}) AS events` }
  const select = selectRows(table, { schema: 'callwatch.', join: 'JOIN', bytewise: ' COLLATE "C"', instead })
  const cursor = `copied_${cursors++}`
  await run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${select}`)
  try {
    for (;;) {
      const rows = await run(`FETCH ${COPY_BATCH} FROM ${cursor}`)
      if (rows.length > 0) yield rows.map((row) => columns.map(([name, kind]) => valueOf(row[name], kind)))
      if (rows.length < COPY_BATCH) return
    }
  } finally {
    // Where the transaction has failed, the cursor is gone.
    await run(`CLOSE ${cursor}`).catch(() => undefined)
  }
}

function valueOf(value: unknown, kind: ColumnKind): CopyValue {
  // The client gives a bigint as text; the rest is what the column says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has no other types
  return kind === 'whole' || kind === 'flag' ? Number(value) : (value as CopyValue)
}

/** How values of each kind are sent, and what they are in a row. */
const KINDS: Readonly<Record<ColumnKind, { type: string; valueIn: (given: string) => string }>> = {
  target: { type: 'text[]', valueIn: (name) => `(SELECT number FROM callwatch.targets WHERE targets.name = ${name})` },
  text: { type: 'text[]', valueIn: (text) => text },
  number: { type: 'float8[]', valueIn: (number) => number },
  whole: { type: 'bigint[]', valueIn: (number) => number },
  flag: { type: 'int[]', valueIn: (flag) => `${flag} = 1` },
  bytes: { type: 'text[]', valueIn: (hex) => `decode(${hex}, 'hex')` },
}

function insertInto(table: CopyTable): string {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name).join(', ')
  return `
    INSERT INTO callwatch.${table} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${columns.map(([name, kind]) => KINDS[kind].valueIn(`given.${name}`)).join(', ')}
    FROM unnest(${columns.map(([, kind], i) => `$${i + 1}::${KINDS[kind].type}`).join(', ')}) AS given (${names})`
}

/** The rows by columns. */
function argumentsOf(table: CopyTable, rows: readonly CopyRow[]): Argument[] {
  return columnsOf(table).map(([, kind], i) => {
    const values = rows.map((row) => row[i]!)
    return kind === 'number' || kind === 'whole' || kind === 'flag' ? values.map(numberOf) : values.map(textOf)
  })
}

function numberOf(value: CopyValue): number | null {
  return value === null ? null : Number(value)
}

function textOf(value: CopyValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}

/** Later rows are numbered after the copied ones. */
function countOnFrom(table: string): string {
  return `SELECT setval(pg_get_serial_sequence('callwatch.${table}', 'id'), max(id)) FROM callwatch.${table} HAVING count(*) > 0`
}
