import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { BASELINE_CODE } from '../ledger/call-codes.ts'
import { NUMBER } from './events.ts'
import type { Database, Row, Sql, Step, Value } from './sql.ts'
import { StoreError } from './store-error.ts'
import { COPIED, insertInto, TABLES, TABLES_OF_TARGETS, type Kind, type TableName } from './tables.ts'

export { COPIED }

/** A store to read completely, while no daemon uses it. */
export type CopySource = Pick<Database, 'place' | 'all' | 'close'>

/** An empty store to fill in one transaction. */
export type CopyDestination = CopySource &
  Pick<Sql, 'batch'> & {
    /** Commits everything that was written. If it is closed without this, the store stays empty. */
    commit: () => Promise<void>
  }

export type Copied = Awaited<ReturnType<typeof copyStore>>

/** The most differences that are shown for one table. */
const DIFFERENCES_SHOWN = 5

/** How many rows are read, written and compared at a time, so that memory use does not grow with the store. */
const BATCH = 1000

/** A column of a table, with its type. */
type Column = readonly [name: string, kind: Kind]

/** The values of a row, in the order of the table's columns. */
type Values = readonly Value[]

/**
 * Copies a store into an empty one, reads both, and keeps the copy if they are equal.
 *
 * @returns the number of copied rows, by table; the targets, with the sequence number of their last commit; and how the copy differs
 * from the source
 * @throws {StoreError} if one of them cannot be read or written; then nothing is kept
 */
export async function copyStore(source: CopySource, destination: CopyDestination) {
  const counts: Record<string, number> = {}
  for (const table of COPIED) {
    counts[table] = await copyTable(table, source, destination)
  }
  const differences: string[] = []
  for (const table of COPIED) differences.push(...(await compareTable(table, source, destination)))
  if (differences.length === 0) {
    await destination.batch(DERIVED)
    await destination.commit()
  }
  const targets = await source.all('SELECT name, seq FROM callwatch.targets ORDER BY name')
  return { counts, targets: targets.map(({ name, seq }) => ({ name: String(name), seq: Number(seq) })), differences }
}

/** @returns the number of its rows */
async function copyTable(table: TableName, source: CopySource, destination: CopyDestination): Promise<number> {
  const targets = await destination.all('SELECT name, number FROM callwatch.targets')
  const numbers = new Map(targets.map(({ name, number }) => [String(name), Number(number)]))
  // No daemon has acquired a target of the copy yet.
  const more = table === 'targets' ? { epoch: 0 } : {}
  const statement = insertInto(table, [...columnsOf(table).map(([name]) => name), ...Object.keys(more)])
  let count = 0
  for await (const rows of rowsOf(source, table)) {
    const given = rows.map(([first, ...rest]) => [
      TABLES_OF_TARGETS.includes(table) ? numbers.get(String(first))! : first!,
      ...rest,
      ...Object.values(more),
    ])
    await destination.batch([{ statement, given }])
    count += rows.length
  }
  return count
}

/** Restores derived rows: marks rollups to be computed again, and assigns positions to events without one. */
const DERIVED: readonly Step[] = [
  {
    statement: `
      INSERT INTO callwatch.stale_rollups (quarter, target, version)
      SELECT DISTINCT floor(finished / ${QUARTER_HOUR_SECONDS})::bigint * ${QUARTER_HOUR_SECONDS}, target, 1
      FROM callwatch.calls WHERE finished IS NOT NULL AND status <> ${BASELINE_CODE}`,
  },
  { statement: NUMBER },
]

/** The copied columns of a table, each with its type. */
export function columnsOf(table: TableName): Column[] {
  // Another store numbers its targets differently, and targets have owners only while daemons use the store.
  const isLeftOut = (name: string) => table === 'targets' && ['number', 'owner', 'epoch'].includes(name)
  return Object.entries(TABLES[table].columns).filter(([name]) => !isLeftOut(name))
}

/** @throws {StoreError} refused: the copied tables have rows; `remedy` says what to do */
export async function expectEmpty({ all, place }: Pick<Sql, 'all' | 'place'>, remedy: string): Promise<void> {
  const isFilled = COPIED.map((table) => `EXISTS (SELECT 1 FROM callwatch.${table}) AS ${table}`)
  const [row] = await all(`SELECT ${isFilled.join(', ')}`)
  const filled = COPIED.filter((table) => Boolean(row![table]))
  if (filled.length > 0)
    throw new StoreError('refused', `${place} is not empty: it has ${filled.join(', ')}; ${remedy}`)
}

/** Reads the rows of a table in batches, ordered by its key. Rows of targets are read target by target, ordered by name. */
export async function* rowsOf(sql: CopySource, table: TableName): AsyncGenerator<Values[]> {
  const columns = columnsOf(table)
  if (!TABLES_OF_TARGETS.includes(table)) {
    yield* pages(sql, table, columns)
    return
  }
  const targets = await sql.all('SELECT number, name FROM callwatch.targets ORDER BY name')
  const others = columns.filter(([, kind]) => kind !== 'target')
  for (const { number, name } of targets) {
    for await (const rows of pages(sql, table, others, Number(number))) yield rows.map((row) => [String(name), ...row])
  }
}

/** @param target the number of the target whose rows are read */
async function* pages(
  sql: CopySource,
  table: TableName,
  columns: readonly Column[],
  target?: number,
): AsyncGenerator<Values[]> {
  const key = TABLES[table].key.flatMap((name) => columns.filter(([column]) => column === name))
  const names = key.map(([name]) => name).join(', ')
  const first = target === undefined ? [] : [target]
  const parameters = key.map(([, kind], i) => `$${first.length + i + 1}${kind === 'flag' ? '::int = 1' : ''}`)
  for (let rows: Row[] | undefined; rows === undefined || rows.length === BATCH;) {
    const last = rows?.at(-1)
    const conditions = [
      ...first.map(() => 'target = $1'),
      ...(last === undefined ? [] : [`(${names}) > (${parameters.join(', ')})`]),
    ]
    rows = await sql.all(
      `SELECT ${columns.map(([name]) => name).join(', ')} FROM callwatch.${table}
      ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} ORDER BY ${names} LIMIT ${BATCH}`,
      [...first, ...(last === undefined ? [] : valuesOf(last, key))],
    )
    if (rows.length > 0) yield rows.map((row) => valuesOf(row, columns))
  }
}

function valuesOf(row: Row, columns: readonly Column[]): Value[] {
  return columns.map(([name, kind]) => {
    const value = row[name]
    // PostgreSQL's client returns some numbers as text, and flags as booleans.
    if (value !== null && !kind.startsWith('text')) return Number(value)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no copied table has other types
    return value as Value
  })
}

/** Compares a table batch by batch. Both sides have batches of the same size. */
async function compareTable(table: TableName, source: CopySource, destination: CopySource): Promise<string[]> {
  const differences: string[] = []
  const sides = [rowsOf(source, table), rowsOf(destination, table)]
  const keys = TABLES[table].key.length
  for (;;) {
    const read = await Promise.all(sides.map((side) => side.next()))
    const [rows, others] = read.map(({ done, value }) => (done === true ? [] : value))
    const most = Math.max(rows!.length, others!.length)
    if (most === 0) return differences
    for (let i = 0; i < most; i++) {
      const [row, other] = [rows![i], others![i]]
      if (row?.length === other?.length && row!.every((value, place) => value === other![place])) continue
      differences.push(`${table}: ${(row ?? other)!.slice(0, keys).join(', ')}`)
      if (differences.length === DIFFERENCES_SHOWN) return differences
    }
  }
}
