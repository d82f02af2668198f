import { fenced, GIVEN, givenColumns, type Sql, type Step, type Value } from '../sql.ts'
import type { Session } from './connection.ts'
import { codeOf } from './postgres-error.ts'
import { snapshot, transaction } from './transaction.ts'

/** Runs work on a connection that nothing else uses meanwhile. */
export type UseSession = <T>(work: (session: Session) => Promise<T>) => Promise<T>

const SIZE = `
  SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_catalog.pg_class
  WHERE relnamespace = 'callwatch'::regnamespace AND relkind = 'r'`

/** What a step that has changed another number of rows than its fence divides by. */
const DIVISION_BY_ZERO = '22012'

/**
 * A database as a {@link Sql}.
 *
 * @param place how it is called in a sentence
 * @param useLong the same as `use` for transactions that take long
 */
export function postgresSql(
  place: string,
  use: UseSession,
  { useLong = use, close }: { useLong?: UseSession; close: () => Promise<void> },
): Sql {
  return {
    place,
    all: (query, args = []) => use(({ run }) => run(postgresStatement(query), args)),
    each: (query, args, take) =>
      use(({ each }) => each(postgresStatement(query), args, (row) => take(Object.values(row)))),
    batch: async (steps) => {
      const wanted = steps.filter(({ given }) => given?.length !== 0)
      const results = (await use((session) => runAll(session, wanted))).values()
      return steps.map((step) => (wanted.includes(step) ? results.next().value! : []))
    },
    transaction: (work, kind = 'usual') => {
      const within = (session: Session) => work(sqlWithin(place, session))
      if (kind === 'snapshot') return use((session) => snapshot(session, within))
      return (kind === 'long' ? useLong : use)((session) => transaction(session, within))
    },
    size: () =>
      use(async ({ run }) => {
        const [row] = await run(SIZE)
        return Number(row!['bytes'])
      }),
    close,
  }
}

/** The database within a transaction that has begun. */
export function sqlWithin(place: string, session: Session): Sql {
  const sql: Sql = {
    ...postgresSql(place, (work) => work(session), { close: () => Promise.resolve() }),
    batch: (steps) =>
      Promise.all(steps.map((step) => (step.given?.length === 0 ? Promise.resolve([]) : runStep(session, step)))),
    transaction: (work) => work(sql),
  }
  return sql
}

/** Runs steps in one round trip. After one that fails, the database refuses the others, and the transaction's COMMIT undoes all. */
async function runAll(session: Session, steps: readonly Step[]) {
  if (steps.length < 2) return Promise.all(steps.map((step) => runStep(session, step)))
  const begun = session.run('BEGIN')
  const results = steps.map((step) => runStep(session, step))
  const settled = await Promise.allSettled<unknown>([begun, ...results, session.run('COMMIT')])
  // The first that failed says why: those after it were refused because of that.
  const failed = settled.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  return Promise.all(results)
}

async function runStep({ run }: Session, { statement, args = [], given, fence }: Step) {
  const text = postgresStatement(statement)
  const values = given === undefined ? args : [jsonOf(givenColumns(statement)!, given)]
  if (fence === undefined) return run(text, values)
  const returning = /^\s*SELECT|\bRETURNING\b/.test(text) ? text : `${text} RETURNING 1`
  const fencing = `WITH done AS (${returning}) SELECT 1 / (count(*) = ${fence})::int FROM done`
  return run(fencing, values).catch((error: unknown) => {
    throw codeOf(error) === DIVISION_BY_ZERO ? fenced() : error
  })
}

/** A statement in PostgreSQL's own words. */
function postgresStatement(statement: string): string {
  return statement
    .replace(GIVEN, (_, columns: string) => `json_to_recordset($1::text::json) AS given(${columns})`)
    .replaceAll(/IN texts\((\$\d+)\)/g, '= ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))')
    .replaceAll(/IN wholes\((\$\d+)\)/g, '= ANY (ARRAY(SELECT json_array_elements_text($1::text::json)::bigint))')
}

function jsonOf(names: readonly string[], rows: readonly (readonly Value[])[]): string {
  const valueOf = (value: Value) => (value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value)
  return JSON.stringify(rows.map((row) => Object.fromEntries(names.map((name, i) => [name, valueOf(row[i]!)]))))
}
