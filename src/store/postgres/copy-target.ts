import {
  COPY_TABLE_NAMES,
  columnsOf,
  type ColumnKind,
  type CopyRow,
  type CopyTable,
  type CopyTarget,
  type CopyValue,
} from '../copy-tables.ts'
import { StoreError } from '../store.ts'
import type { Argument, Connection } from './connection.ts'
import { connectAlone } from './copy-alone.ts'
import { copyRows, isNumbered } from './copy-rows.ts'
import { migrate } from './schema.ts'

/**
 * Opens an empty store to copy another one into it, and keeps every daemon away from it meanwhile.
 *
 * @throws {StoreError} refused: it is not empty, a daemon uses it, it is of a newer schema, or it lets nobody in
 */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  const connection = await connectAlone(url, { readOnly: false, prepare: migrate })
  try {
    await expectEmpty(connection)
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    place: connection.place,
    rows: (table) => copyRows(connection, table),
    write: async (table, rows) => void (await connection.run(insertInto(table), argumentsOf(table, rows))),
    commit: async () => {
      for (const table of ['outbox', 'silences']) await connection.run(countOnFrom(table))
      await connection.run('COMMIT').catch((error: unknown) => {
        throw new StoreError(
          'unavailable',
          `${connection.place} did not answer whether the copy is kept (${String(error)}); ` +
            'copy again: where it is, that is refused because the store is not empty',
          error,
        )
      })
    },
    // What was not committed goes with the connection.
    close: connection.close,
  }
}

async function expectEmpty({ run, place }: Connection): Promise<void> {
  const tables = COPY_TABLE_NAMES.map((table) => `EXISTS (SELECT FROM callwatch.${table}) AS ${table}`)
  const [row] = await run(`SELECT ${tables.join(', ')}`)
  const filled = COPY_TABLE_NAMES.filter((table) => row![table] === true)
  if (filled.length === 0) return
  throw new StoreError('refused', `${place} is not empty: it has ${filled.join(', ')}; name an empty database`)
}

const TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text[]',
  number: 'float8[]',
  whole: 'bigint[]',
  flag: 'int[]',
  bytes: 'text[]',
}

function insertInto(table: CopyTable): string {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name)
  const given = columns.map(([, kind], i) => `$${i + 1}::${TYPES[kind]}`)
  return `
    INSERT INTO callwatch.${table} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${columns.map(([name, kind]) => valueIn(table, name, kind)).join(', ')}
    FROM unnest(${given.join(', ')}) AS given (${names.join(', ')})
    ${isNumbered(table) ? 'JOIN callwatch.targets ON targets.name = given.target' : ''}`
}

function valueIn(table: CopyTable, name: string, kind: ColumnKind): string {
  if (name === 'target' && isNumbered(table)) return 'targets.number'
  if (name === 'at') return 'to_timestamp(given.at)'
  if (kind === 'bytes') return `decode(given.${name}, 'hex')`
  return kind === 'flag' ? `given.${name} = 1` : `given.${name}`
}

/** The rows by columns. */
function argumentsOf(table: CopyTable, rows: readonly CopyRow[]): Argument[] {
  return columnsOf(table).map(([, kind], i) => {
    const values = rows.map((row) => row[i]!)
    return kind === 'number' || kind === 'whole' || kind === 'flag' ? values.map(numberOf) : values.map(textOf)
  })
}

function numberOf(value: CopyValue): number | null {
  return value === null ? null : Number(value)
}

function textOf(value: CopyValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}

/** What is added later is numbered after what was copied. */
function countOnFrom(table: string): string {
  return `SELECT setval(pg_get_serial_sequence('callwatch.${table}', 'id'), max(id)) FROM callwatch.${table} HAVING count(*) > 0`
}
