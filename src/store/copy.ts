import { QUARTER_HOUR_SECONDS } from '../ledger/usage.ts'
import { BASELINE_CODE } from '../ledger/call-codes.ts'
import { NUMBER } from './events.ts'
import type { Row, Sql, Step, Value } from './sql.ts'
import { StoreError } from './store-error.ts'
import { insertInto, TABLE_NAMES, tableOf, type Kind, type TableName } from './tables.ts'

/** The tables that are copied, in an order in which each comes after those that it refers to. */
export const COPIED = TABLE_NAMES.filter((name) => tableOf(name).derived !== true)

/** A store that is read whole, while no daemon uses it. */
export type CopySource = Pick<Sql, 'place' | 'all' | 'close'>

/** An empty store that is filled, in one transaction. */
export type CopyDestination = CopySource &
  Pick<Sql, 'batch'> & {
    /** Keeps all that was written; closed without it, the store is as empty as before. */
    commit: () => Promise<void>
  }

/** The result of copying a store. */
export type Copied = {
  /** Rows that were copied, by table. */
  counts: Readonly<Record<string, number>>
  /** Targets with the sequence number of their last commit. */
  targets: readonly { name: string; seq: number }[]
  /** Where the copy, read back, differs from what is in the source now; nothing is kept of it then. */
  differences: readonly string[]
}

/** Differences of a table that are shown at most. */
const DIFFERENCES_SHOWN = 5

/** So many rows are read, written and compared at a time: memory use does not grow with the store. */
const BATCH = 1000

/** A column of a table, with what it holds. */
type Column = readonly [name: string, kind: Kind]

/** The values of a row, in the order of its table's columns. */
type Values = readonly Value[]

/**
 * Copies all that a store keeps into an empty one, reads both sides, and keeps the copy where they are equal.
 *
 * @throws {StoreError} when one of them cannot be read or written; nothing is kept then
 */
export async function copyStore(source: CopySource, destination: CopyDestination): Promise<Copied> {
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

/** @returns how many rows it has */
async function copyTable(table: TableName, source: CopySource, destination: CopyDestination): Promise<number> {
  const targets = await destination.all('SELECT name, number FROM callwatch.targets')
  const numbers = new Map(targets.map(({ name, number }) => [String(name), Number(number)]))
  // Nothing has acquired a target of a copy yet.
  const more = table === 'targets' ? { epoch: 0 } : {}
  const statement = insertInto(table, [...columnsOf(table).map(([name]) => name), ...Object.keys(more)])
  let count = 0
  for await (const rows of rowsOf(source, table)) {
    const given = rows.map(([first, ...rest]) => [
      isOfTargets(table) ? numbers.get(String(first))! : first!,
      ...rest,
      ...Object.values(more),
    ])
    await destination.batch([{ statement, given }])
    count += rows.length
  }
  return count
}

/** What follows from the rows: rollups are added up again, and the positions of events that have none yet. */
const DERIVED: readonly Step[] = [
  {
    statement: `
      INSERT INTO callwatch.stale_rollups (quarter, target, version)
      SELECT DISTINCT floor(finished / ${QUARTER_HOUR_SECONDS})::bigint * ${QUARTER_HOUR_SECONDS}, target, 1
      FROM callwatch.calls WHERE finished IS NOT NULL AND status <> ${BASELINE_CODE}`,
  },
  { statement: NUMBER },
]

/** The columns of a table that are copied, each with what it holds. */
export function columnsOf(table: TableName): Column[] {
  // Targets have other numbers in another store, and owners only while daemons use it.
  const isLeftOut = (name: string) => table === 'targets' && ['number', 'owner', 'epoch'].includes(name)
  return Object.entries(tableOf(table).columns).filter(([name]) => !isLeftOut(name))
}

/** Whether its rows belong to targets; then these are its first column. */
function isOfTargets(table: TableName): boolean {
  return tableOf(table).columns['target'] === 'target'
}

/** @throws {StoreError} refused: a store has rows in tables that are copied; `remedy` says what to do */
export async function expectEmpty({ all, place }: Pick<Sql, 'all' | 'place'>, remedy: string): Promise<void> {
  const isFilled = COPIED.map((table) => `EXISTS (SELECT 1 FROM callwatch.${table}) AS ${table}`)
  const [row] = await all(`SELECT ${isFilled.join(', ')}`)
  const filled = COPIED.filter((table) => Boolean(row![table]))
  if (filled.length > 0)
    throw new StoreError('refused', `${place} is not empty: it has ${filled.join(', ')}; ${remedy}`)
}

/** The rows of a table by its key, in batches: target after target where they belong to these, each by its name. */
export async function* rowsOf(sql: CopySource, table: TableName): AsyncGenerator<Values[]> {
  const columns = columnsOf(table)
  if (!isOfTargets(table)) {
    yield* pages(sql, table, columns)
    return
  }
  const targets = await sql.all('SELECT number, name FROM callwatch.targets ORDER BY name')
  const others = columns.filter(([, kind]) => kind !== 'target')
  for (const { number, name } of targets) {
    for await (const rows of pages(sql, table, others, Number(number))) yield rows.map((row) => [String(name), ...row])
  }
}

/** @param target whose rows they are, by its number */
async function* pages(
  sql: CopySource,
  table: TableName,
  columns: readonly Column[],
  target?: number,
): AsyncGenerator<Values[]> {
  const key = tableOf(table).key.flatMap((name) => columns.filter(([column]) => column === name))
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
    // The client of PostgreSQL gives some numbers as text, and flags as truth values.
    if (value !== null && !kind.startsWith('text')) return Number(value)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no copied table has other types
    return value as Value
  })
}

/** Compares a table batch by batch; both sides have batches of the same size. */
async function compareTable(table: TableName, source: CopySource, destination: CopySource): Promise<string[]> {
  const differences: string[] = []
  const sides = [rowsOf(source, table), rowsOf(destination, table)]
  const keys = tableOf(table).key.length
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
