import { StoreError } from './store-error.ts'

/** An argument of a statement. Lists are passed as JSON. */
export type Value = string | number | null | Uint8Array

/** The values of a row, by column. */
export type Row = Readonly<Record<string, unknown>>

/**
 * A statement of a batch, in the SQL that PostgreSQL and SQLite share (sqlite/engine.ts), with two extensions: `IN texts($1)` and
 * `IN wholes($1)` take a list as JSON, and `given(id text, n int)` is a relation of the given rows.
 */
export type Step = {
  readonly statement: string
  /** The values of `$1`, `$2` …, in order. */
  readonly args?: readonly Value[]
  /** Instead of arguments: the rows of the relation `given`. A step without rows is skipped. */
  readonly given?: readonly (readonly Value[])[]
  /**
   * How many rows it must change or select. Otherwise the batch is rolled back, and rejects with an error of the kind `stale`.
   */
  readonly fence?: number
  /** It writes or erases personal data. From then on, deleted data does not stay in free parts of a file. */
  readonly isPersonal?: boolean
}

/** A database, or an open transaction of one. All methods reject with a {@link StoreError}. */
export type Sql = {
  /** Its name in sentences: its file or its database. */
  readonly place: string
  /** Returns the rows of a query. A statement that changes something is a step of a batch. */
  readonly all: (query: string, args?: readonly Value[]) => Promise<Row[]>
  /** Passes on the values of row by row without keeping them, for answers of any length. */
  readonly each: (query: string, args: readonly Value[], onRow: (values: readonly unknown[]) => void) => Promise<void>
  /** Runs statements in one transaction, and returns the rows of each. */
  readonly batch: (steps: readonly Step[]) => Promise<Row[][]>
  /** Runs `work` in one transaction, for statements that depend on the results of others. */
  readonly transaction: <T>(work: (sql: Sql) => Promise<T>, kind?: TransactionKind) => Promise<T>
  /** The size of the database (bytes), with SQLite's log of writes next to the file. */
  readonly size: () => Promise<number>
}

/** An open database. */
export type Database = Sql & { readonly close: () => Promise<void> }

/** `snapshot`: every statement sees the same moment. `long`: the transaction may take minutes. */
export type TransactionKind = 'usual' | 'snapshot' | 'long'

/** A list for `texts($1)` or `wholes($1)`. */
export function list(values: Iterable<string | number>): string {
  return JSON.stringify([...values])
}

/** The names of the columns of a statement's relation `given`, each with its type in PostgreSQL; empty if it has none. */
export function givenColumns(statement: string): string[][] {
  const declared = GIVEN.exec(statement)?.groups?.['columns']
  return declared?.split(',').map((column) => column.trim().split(' ')) ?? []
}

export const GIVEN = /\bgiven\((?<columns>[^)]+)\)/

/** The error when a fence does not hold. */
export function fenced(): StoreError {
  return new StoreError('stale', 'another process has changed the store meanwhile')
}

/** The database ended before it responded. The request may have been carried out. */
export class AnswerLost extends StoreError {
  constructor(message: string, cause?: Error) {
    super('unavailable', message, cause)
  }
}

/**
 * Reads a store with custom SQL, in what both PostgreSQL and SQLite support, except that parameters are `$1`, `$2` …, and tables are in
 * the schema `callwatch`. Commits do not wait for it. Rejects with a {@link StoreError} if the store cannot be read now.
 */
export type RowReader = { rows: Sql['all'] }

/** Parses JSON that the store itself wrote from a T. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function parse<T>(text: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(String(text)) as T
}

/** Selects the rows of the target with the name $1. */
export const OF_TARGET = 'target = (SELECT number FROM callwatch.targets WHERE name = $1)'
