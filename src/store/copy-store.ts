import {
  COPY_TABLE_NAMES,
  COPY_TABLES,
  type CopyRow,
  type CopySource,
  type CopyTable,
  type CopyDestination,
} from './copy-tables.ts'

/** The result of copying a store. */
export type Copied = {
  /** Rows that were copied, by table. */
  counts: Readonly<Record<CopyTable, number>>
  /** Targets with the sequence number of their last commit. */
  targets: readonly { name: string; seq: number }[]
  /** Where the copy, read back, differs from what is in the source now; nothing is kept of it then. */
  differences: readonly string[]
}

/** Differences of a table that are shown at most. */
const DIFFERENCES_SHOWN = 5

/**
 * Copies all that a store keeps into an empty one, reads both sides, and keeps the copy where they are equal. Rows are
 * copied in batches: memory use does not grow with the store.
 *
 * @throws {StoreError} when one of them cannot be read or written; nothing is kept then
 */
export async function copyStore(source: CopySource, destination: CopyDestination): Promise<Copied> {
  const counts: Partial<Record<CopyTable, number>> = {}
  for (const table of COPY_TABLE_NAMES) {
    let count = 0
    for await (const rows of source.rows(table)) {
      await destination.write(table, rows)
      count += rows.length
    }
    counts[table] = count
  }
  const differences: string[] = []
  for (const table of COPY_TABLE_NAMES) differences.push(...(await compareTable(table, source, destination)))
  if (differences.length === 0) await destination.commit()
  const targets: Copied['targets'][number][] = []
  for await (const rows of source.rows('targets')) {
    targets.push(...rows.map(([name, , seq]) => ({ name: String(name), seq: Number(seq) })))
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each table has its number by now
  return { counts: counts as Copied['counts'], targets, differences }
}

/** Compares a table batch by batch; both sides have batches of the same size. */
async function compareTable(table: CopyTable, source: CopySource, destination: CopyDestination): Promise<string[]> {
  const differences: string[] = []
  const copied = destination.rows(table)[Symbol.asyncIterator]()
  const compare = (rows: readonly CopyRow[], others: readonly CopyRow[]) => {
    for (let i = 0; i < Math.max(rows.length, others.length) && differences.length < DIFFERENCES_SHOWN; i++) {
      if (!isEqualRow(rows[i], others[i])) differences.push(nameOf(table, rows[i] ?? others[i]!))
    }
  }
  for await (const rows of source.rows(table)) {
    const next = await copied.next()
    compare(rows, next.done === true ? [] : next.value)
    if (differences.length === DIFFERENCES_SHOWN) break
  }
  const left = await copied.next()
  if (left.done !== true) compare([], left.value)
  await copied.return?.()
  return differences
}

function isEqualRow(row: CopyRow | undefined, other: CopyRow | undefined): boolean {
  if (row === undefined || other === undefined) return false
  return row.length === other.length && row.every((value, i) => isEqualValue(value, other[i]))
}

function isEqualValue(value: unknown, other: unknown): boolean {
  if (value instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(value, other) === 0
  return Object.is(value, other)
}

/** `calls: production, v1.us.a`. */
function nameOf(table: CopyTable, row: CopyRow): string {
  return `${table}: ${row.slice(0, COPY_TABLES[table].key).join(', ')}`
}
