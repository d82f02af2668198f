import { StoreError } from './store-error.ts'

/** A value that a statement is given. Lists go as JSON. */
export type Value = string | number | null | Uint8Array

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

/**
 * A statement of a batch. Its text is what PostgreSQL understands, as far as SQLite does so, too (sqlite/statement.ts), and two
 * words of our own: `IN texts($1)` and `IN wholes($1)` take a list as JSON, and `given(id text, n int)` is a relation of rows.
 */
export type Step = {
  readonly statement: string
  /** `$1`, `$2` …, in their order. */
  readonly args?: readonly Value[]
  /** In place of them: the rows of its relation `given`. Without any, the step is left out. */
  readonly given?: readonly (readonly Value[])[]
  /** How many rows it has to change or select: else nothing of the batch is kept, and it rejects with an error `stale`. */
  readonly fence?: number
  /** It writes what tells of people: from then on, what is deleted does not stay in free parts of a file. */
  readonly isPersonal?: boolean
}

/** A database. Everything rejects with a {@link StoreError}. */
export type Sql = {
  /** How it is called in a sentence: its file, or its database. */
  readonly place: string
  /** The rows of a query. One that changes something is a step. */
  readonly all: (query: string, args?: readonly Value[]) => Promise<Row[]>
  /** The same for answers of any length: the values of row after row, none of which is kept. */
  readonly each: (query: string, args: readonly Value[], take: (values: readonly unknown[]) => void) => Promise<void>
  /** All of these statements or none of them, in one transaction; the rows that each returns. */
  readonly batch: (steps: readonly Step[]) => Promise<Row[][]>
  /** The same where a decision lies in between: all that `work` does, or nothing. */
  readonly transaction: <T>(work: (sql: Sql) => Promise<T>, kind?: TransactionKind) => Promise<T>
  /** How large the database is, without copies and logs (bytes). */
  readonly size: () => Promise<number>
  /** Runs a pragma, of SQLite alone. */
  readonly pragma?: (pragma: string) => Promise<Row[]>
  /** Whether its file is not the one that has the path any more: it must be opened again. Undefined for a database. */
  readonly isReplaced?: () => boolean
  readonly close: () => Promise<void>
}

/** `snapshot` reads everything as it was at one moment; `long` may take minutes. */
export type TransactionKind = 'usual' | 'snapshot' | 'long'

/** A list for `texts($1)` or `wholes($1)`. */
export function list(values: Iterable<string | number>): string {
  return JSON.stringify([...values])
}

/** The columns of the relation `given` of a statement, as PostgreSQL declares them; undefined where it has none. */
export function givenColumns(statement: string): string[] | undefined {
  const declared = GIVEN.exec(statement)?.groups?.['columns']
  return declared?.split(',').map((column) => column.trim().split(' ')[0]!)
}

export const GIVEN = /\bgiven\((?<columns>[^)]+)\)/

/** What a fence rejects with. */
export function fenced(): StoreError {
  return new StoreError('stale', 'another process has changed the store meanwhile')
}

/** The database ended before it responded: the request may have been carried out, or not. */
export class AnswerLost extends StoreError {
  constructor(message: string, cause?: Error) {
    super('unavailable', message, cause)
  }
}
