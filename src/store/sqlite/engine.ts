import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { GIVEN, givenColumns, AnswerLost, fenced, type Step, type TransactionKind, type Value } from '../sql.ts'
import { isBusy } from './sqlite-error.ts'

/** Translates a statement to SQLite's SQL, with a number of rows of parameters as the relation `given`. */
function sqliteStatement(statement: string, rows: number): string {
  const columns = givenColumns(statement)
  const names = columns.map(([name], i) => `column${i + 1} AS ${name}`)
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = Array.from({ length: rows }, () => row)
  return statement
    .replace(GIVEN, () => `(SELECT ${names.join(', ')} FROM (VALUES ${values.join(', ')})) AS given`)
    .replaceAll(/IN (?:texts|wholes)\((\$\d+)\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll(/::\w+/g, '')
    .replaceAll(/ FOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, '')
    .replaceAll('greatest(', 'max(')
    .replaceAll('least(', 'min(')
    .replaceAll('callwatch.', '')
    .replaceAll(/\$(\d+)/g, '?$1')
}

/** The requests to {@link sqliteEngine}. Threads can send them to each other. */
export type EngineRequest = (
  | { do: 'all'; query: string; args: readonly Value[] }
  /** Begins a query. `next` returns its rows until there are no more. */
  | { do: 'each'; cursor: string; query: string; args: readonly Value[] }
  | { do: 'next'; cursor: string }
  | { do: 'batch'; steps: readonly Step[] }
  | { do: 'begin'; kind: TransactionKind }
  | { do: 'end'; keep: boolean }
  | { do: 'close' }
) & {
  /** The open transaction that the request belongs to. An engine that was started meanwhile does not know it, and refuses. */
  within?: true
}

/** Rows as arrays of values. Sending them to another thread as objects would cost several times as much. */
export type Rows = { names: string[]; values: unknown[][] }

/** How many rows `each` sends at a time: few, so that other requests are answered in between. */
const ROWS_AT_ONCE = 5000

/** The most rows that a statement gets at a time. More gain nothing. */
const ROWS_A_STATEMENT = 50

/** How long a statement waits for a store that another process has locked, and between two attempts (milliseconds). */
export const BUSY_TIMEOUT_MS = 5000
const BUSY_RETRY_MS = 10

/** The most prepared statements that are kept. Queries of the history often have new texts. */
const MAX_PREPARED = 200

type Prepared = { statement: StatementSync; names: string[] }

/**
 * Runs requests on an open database, one after the other. It is synchronous, so it runs in the store's thread (thread.ts), or where
 * nothing else has to wait.
 *
 * @param expectInPlace throws if another file has replaced the opened one
 * @param close closes the database, and what was opened with it
 */
export function sqliteEngine(db: DatabaseSync, { expectInPlace = () => {}, close = () => db.close() } = {}) {
  const { prepare, kept } = statementsOf(db)
  const cursors = new Map<string, Iterator<unknown>>()
  const lock = newLock(db, expectInPlace)
  const begin = (kind: TransactionKind) => (kind === 'snapshot' ? db.exec('BEGIN') : lock())

  function run({ statement: text, args = [], given, fence, isPersonal = false }: Step): Rows {
    // This makes writes more expensive, so it is switched on only when it is needed.
    if (isPersonal) db.exec('PRAGMA secure_delete = ON')
    const rows: Rows = { names: [], values: [] }
    let changes = 0
    for (const part of given === undefined ? [[args]] : partsOf(given)) {
      const { statement, names } = kept(text, part.length)
      // This is several times as fast as flat().
      const values = ([] as Value[]).concat(...part)
      if (names.length === 0) changes += Number(statement.run(...values).changes)
      else for (const row of valuesOf(statement.all(...values))) rows.values.push(row)
      rows.names = names
    }
    if (fence !== undefined && changes + rows.values.length !== fence) throw fenced()
    return rows
  }

  function next(cursor: string): unknown[][] {
    const rows = cursors.get(cursor)
    if (rows === undefined) throw endedMeanwhile()
    const values: unknown[] = []
    while (values.length < ROWS_AT_ONCE) {
      const { done, value } = rows.next()
      if (done === true) break
      values.push(value)
    }
    if (values.length === 0) cursors.delete(cursor)
    return valuesOf(values)
  }

  return (request: EngineRequest): unknown => {
    if (request.within === true && !db.isTransaction) throw endedMeanwhile()
    if (request.do === 'all') return run({ statement: request.query, args: request.args })
    if (request.do === 'next') return next(request.cursor)
    if (request.do === 'batch') return inTransaction(db, () => request.steps.map(run), lock)
    if (request.do === 'each') {
      // A separate statement, because a kept one may be run again meanwhile.
      const { statement } = prepare(sqliteStatement(request.query, 1))
      cursors.set(request.cursor, statement.iterate(...request.args)[Symbol.iterator]())
    } else if (request.do === 'begin') begin(request.kind)
    else if (request.do === 'close') close()
    else if (db.isTransaction) db.exec(request.keep ? 'COMMIT' : 'ROLLBACK')
    return undefined
  }
}

/**
 * Begins a transaction that writes, once no other process does. SQLite's own wait would delay the end of the process. After a wait in
 * vain, further ones fail at once until one succeeds, because their waits would add up.
 */
function newLock(db: DatabaseSync, expectInPlace: () => void): () => void {
  const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Since when every attempt has found the database locked. */
  let busySince: number | undefined
  return () => {
    for (const begun = performance.now(); ; Atomics.wait(pause, 0, 0, BUSY_RETRY_MS)) {
      try {
        expectInPlace()
        db.exec('BEGIN IMMEDIATE')
        busySince = undefined
        return
      } catch (error) {
        if (!isBusy(error)) throw error
        busySince ??= begun
        if (performance.now() - busySince >= BUSY_TIMEOUT_MS) throw error
      }
    }
  }
}

/** The prepared statements of a database. */
function statementsOf(db: DatabaseSync) {
  const prepared = new Map<string, Prepared>()

  function prepare(text: string): Prepared {
    const statement = db.prepare(text)
    statement.setReturnArrays(true)
    return { statement, names: statement.columns().map(({ name }) => name) }
  }

  /** @param rows of the relation `given` */
  function kept(text: string, rows = 1): Prepared {
    // A kept statement might do nothing: SQLite runs some pragmas when it prepares them.
    if (text.startsWith('PRAGMA')) return prepare(text)
    const key = rows === 1 ? text : `${rows} ${text}`
    let known = prepared.get(key)
    if (known === undefined) {
      known = prepare(sqliteStatement(text, rows))
      if (prepared.size === MAX_PREPARED) prepared.clear()
      prepared.set(key, known)
    }
    return known
  }

  return { prepare, kept }
}

/** The rows that a statement gets at a time: many, and the last ones one by one, so that it is prepared for two numbers of rows only. */
function partsOf<T>(given: readonly T[]): T[][] {
  const last = given.length - (given.length % ROWS_A_STATEMENT)
  const together = Array.from({ length: last / ROWS_A_STATEMENT }, (_, i) =>
    given.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT),
  )
  return [...together, ...given.slice(last).map((row) => [row])]
}

export function inTransaction<T>(db: DatabaseSync, work: () => T, begin = () => db.exec('BEGIN IMMEDIATE')): T {
  if (db.isTransaction) return work()
  begin()
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function endedMeanwhile(): AnswerLost {
  return new AnswerLost('the thread of the store ended meanwhile')
}

export type Engine = ReturnType<typeof sqliteEngine>

function valuesOf(rows: unknown): unknown[][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- setReturnArrays, which the types leave out
  return rows as unknown[][]
}
