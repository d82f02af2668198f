/** A row by the names of its columns. */
export type ReadRow = Readonly<Record<string, unknown>>

/** Reads a store with SQL of its own. */
export type RowReader = {
  /**
   * The rows of a query, beside commits, which do not wait for it.
   *
   * @param statement as PostgreSQL and SQLite both understand it, but for two things: its parameters are `$1`, `$2` …, and
   * its tables are in the schema `callwatch`
   * @throws {StoreError} when the store cannot be read now
   */
  rows: (statement: string, args: readonly (string | number)[]) => Promise<ReadRow[]>
}
