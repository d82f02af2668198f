import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { oneByOne } from '../../clock/one-by-one.ts'
import type { Database, Row, Sql, TransactionKind } from '../sql.ts'
import type { Engine, EngineRequest, Rows } from './engine.ts'
import { attempt } from './sqlite-error.ts'

/** Sends a request to an engine in this thread or in another one. Rejects with a StoreError. */
export type AskEngine = (request: EngineRequest) => Promise<unknown>

/**
 * Adapts a SQLite file to {@link Sql}. There is one connection, so everything else waits while a transaction is open.
 *
 * @param path the name of the file in sentences
 * @param isOwn whether it is the daemon's store. Only the daemon commits its targets, so what it reads together needs no transaction
 */
export function sqliteSql(ask: AskEngine, path: string, isOwn = false): Database {
  const inTurn = oneByOne()
  /** How many transactions are open or wait, and how many requests since they began. */
  let waiting = 0
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    waiting += 1
    return inTurn(work).finally(() => (waiting -= 1))
  }

  const on = (asking: AskEngine): Omit<Sql, 'transaction'> => ({
    place: path,
    all: async (query, args = []) => objectsOf(await asking({ do: 'all', query, args })),
    each: async (query, args, onRow) => {
      const cursor = randomUUID()
      await asking({ do: 'each', cursor, query, args })
      for (;;) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the engine returns
        const rows = (await asking({ do: 'next', cursor })) as unknown[][]
        for (const row of rows) onRow(row)
        if (rows.length === 0) return
      }
    },
    batch: async (steps) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the engine returns
      const results = (await asking({ do: 'batch', steps })) as Rows[]
      return results.map(objectsOf)
    },
    size: async () => {
      const [{ bytes, file } = {}] = objectsOf(await asking({ do: 'all', query: SIZE, args: [] }))
      return Number(bytes) + (statSync(`${String(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0)
    },
  })

  async function transaction<T>(work: (sql: Sql) => Promise<T>, kind: TransactionKind = 'usual'): Promise<T> {
    try {
      await ask({ do: 'begin', kind })
      const within: Sql = {
        ...on((request) => ask({ ...request, within: true })),
        transaction: (inner) => inner(within),
      }
      const result = await work(within)
      await ask({ do: 'end', keep: true, within: true })
      return result
    } catch (error) {
      await ask({ do: 'end', keep: false }).catch(() => undefined)
      throw error
    }
  }

  // The engine runs requests in order. Only requests during a transaction wait here.
  const asking: AskEngine = (request) => (waiting === 0 ? ask(request) : exclusively(() => ask(request)))
  const sql: Database = {
    ...on(asking),
    transaction: (work, kind) =>
      isOwn && kind === 'snapshot' ? work(sql) : exclusively(() => transaction(work, kind)),
    close: async () => void (await asking({ do: 'close' })),
  }
  return sql
}

/** The same with an engine in this thread. */
export function sqlInPlace(engine: Engine, path: string, isOwn = false): Database {
  return sqliteSql(async (request) => attempt(path, () => engine(request)), path, isOwn)
}

// `file` has no symbolic links, as the name of the log of writes.
const SIZE = "SELECT page_count * page_size AS bytes, file FROM pragma_page_count, pragma_page_size, pragma_database_list WHERE name = 'main'" // oxfmt-ignore

function objectsOf(rows: unknown): Row[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the engine returns
  const { names, values } = rows as Rows
  return values.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])))
}
