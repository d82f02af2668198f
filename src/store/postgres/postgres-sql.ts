import { fenced, GIVEN, givenColumns, type Row, type Sql, type Step, type Value } from '../sql.ts'
import type { Session } from './connection.ts'
import { codeOf } from './postgres-error.ts'

/** A process that is suspended within a transaction must not hold its locks for long. */
const IDLE_TIMEOUT_MS = 5000

const SETTINGS = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`

const BEGIN = `BEGIN; ${SETTINGS}`

/**
 * For reading. Every statement sees the database at the same moment. There is no time limit while rows arrive, because a target may
 * have a million calls.
 */
export const BEGIN_SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${SETTINGS}; SET LOCAL statement_timeout = 0`

/**
 * Runs statements in a transaction. The settings apply to this transaction only, as a transaction pooler requires. Statements that
 * `work` does not await share a round trip.
 */
export async function transaction<T>(
  session: Session,
  work: (session: Session) => Promise<T>,
  begin = BEGIN,
): Promise<T> {
  const begun = session.run(begin)
  begun.catch(() => undefined)
  try {
    const result = await work(session)
    await begun
    await session.run('COMMIT')
    return result
  } catch (error) {
    await session.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Runs work on a connection that nothing else uses meanwhile. */
type UseSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>

const SIZE = `
  SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_catalog.pg_class
  WHERE relnamespace = 'callwatch'::regnamespace AND relkind = 'r'`

/** A step whose number of changed rows differs from its fence divides by this. */
const DIVISION_BY_ZERO = '22012'

/**
 * Adapts a database to {@link Sql}.
 *
 * @param place the name of the database in sentences
 * @param useLong the same as `use`, for transactions that take long
 */
export function postgresSql(place: string, use: UseSession, useLong = use): Sql {
  return {
    place,
    all: (query, args = []) => use(({ run }) => run(postgresStatement(query), args)),
    each: (query, args, onRow) => use(({ each }) => each(postgresStatement(query), args, onRow)),
    batch: (steps) => use((session) => runAll(session, steps)),
    transaction: (work, kind = 'usual') => {
      const begin = kind === 'snapshot' ? BEGIN_SNAPSHOT : BEGIN
      return (kind === 'long' ? useLong : use)((session) =>
        transaction(session, (begun) => work(sqlWithin(place, begun)), begin),
      )
    },
    size: async () => Number((await use(({ run }) => run(SIZE)))[0]!['bytes']),
  }
}

/** The database within an open transaction. */
export function sqlWithin(place: string, session: Session): Sql {
  const sql: Sql = {
    ...postgresSql(place, (work) => work(session)),
    batch: (steps) => rowsOf(steps.map(statementsOf).map((parts) => parts.map((part) => runOne(session, part)))),
    transaction: (work) => work(sql),
  }
  return sql
}

/**
 * Runs steps in one round trip. If one fails, the database refuses the others, and the COMMIT of the transaction rolls back
 * everything.
 */
async function runAll(session: Session, steps: readonly Step[]): Promise<Row[][]> {
  // All statements are built before the first is sent. Otherwise an error while building one would leave it out of the transaction.
  const statements = steps.map(statementsOf)
  const run = () => statements.map((parts) => parts.map((part) => runOne(session, part)))
  if (statements.flat().length < 2) return rowsOf(run())
  for (const { text, values } of statements.flat()) await session.prepare(text, values)
  const begun = session.run(BEGIN)
  const results = run()
  const settled = await Promise.allSettled<unknown>([begun, ...results.flat(), session.run('COMMIT')])
  // The first error is the cause. Statements after it were refused because of it.
  const failed = settled.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  return rowsOf(results)
}

/** Returns the rows of each step. */
async function rowsOf(results: readonly (readonly Promise<Row[]>[])[]): Promise<Row[][]> {
  return Promise.all(results.map(async (parts) => (await Promise.all(parts)).flat()))
}

/** A statement and its arguments, as they are sent. */
type Statement = { text: string; values: readonly Value[]; isFenced: boolean }

/** The most rows in one statement. More could exceed its timeout. */
const ROWS_A_STATEMENT = 10_000

function statementsOf({ statement, args = [], given, fence }: Step): Statement[] {
  if (given?.length === 0) return []
  const text = postgresStatement(statement)
  if (fence !== undefined) {
    const values = given === undefined ? args : [jsonOf(given)]
    const changing = /^\s*SELECT|\bRETURNING\b/.test(text) ? text : `${text} RETURNING 1`
    const fencing = `WITH done AS (${changing}) SELECT 1 / (count(*) = $${values.length + 1}::bigint)::int FROM done`
    return [{ text: fencing, values: [...values, fence], isFenced: true }]
  }
  if (given === undefined) return [{ text, values: args, isFenced: false }]
  return Array.from({ length: Math.ceil(given.length / ROWS_A_STATEMENT) }, (_, i) => {
    const part = given.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT)
    return { text, values: [jsonOf(part)], isFenced: false }
  })
}

async function runOne({ run }: Session, { text, values, isFenced }: Statement): Promise<Row[]> {
  return run(text, values).catch((error: unknown) => {
    throw isFenced && codeOf(error) === DIVISION_BY_ZERO ? fenced() : error
  })
}

/** Translates a statement to PostgreSQL's SQL. */
function postgresStatement(statement: string): string {
  return statement
    .replace(GIVEN, () => relationOf(givenColumns(statement)))
    .replaceAll(/IN texts\((\$\d+)\)/g, '= ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))')
    .replaceAll(/IN wholes\((\$\d+)\)/g, '= ANY (ARRAY(SELECT json_array_elements_text($1::text::json)::bigint))')
}

/** Rows are sent as arrays. As objects with thirty columns, most of the text would be column names. */
function relationOf(columns: readonly string[][]): string {
  const values = columns.map(([name, type], i) => `(sent ->> ${i})::${type} AS ${name}`)
  return `(SELECT ${values.join(', ')} FROM jsonb_array_elements($1::text::jsonb) AS sent) AS given`
}

/** Unpaired surrogates, which PostgreSQL's texts cannot contain. */
const UNUSUAL = /\\ud[89a-f]/

function jsonOf(rows: readonly (readonly Value[])[]): string {
  const valueOf = (value: Value) =>
    value instanceof Uint8Array
      ? `\\x${Buffer.from(value).toString('hex')}`
      : typeof value === 'string'
        ? value.toWellFormed()
        : value
  const text = JSON.stringify(rows)
  const isUnusual = UNUSUAL.test(text) || rows[0]!.some((value) => value instanceof Uint8Array)
  return isUnusual ? JSON.stringify(rows.map((row) => row.map(valueOf))) : text
}
