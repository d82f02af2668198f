/** The values of a row, by column. */
export type ReadRow = Readonly<Record<string, unknown>>

/** Reads a store with custom SQL. */
export type RowReader = {
  /**
   * Returns the rows of a query. Commits do not wait for it.
   *
   * @param statement in SQL that both PostgreSQL and SQLite support, except that parameters are `$1`, `$2` …, and tables are in the
   * schema `callwatch`
   * @throws {StoreError} if the store cannot be read now
   */
  rows: (statement: string, args: readonly (string | number)[]) => Promise<ReadRow[]>
}
