import { connect as connectSocket, type Socket } from 'node:net'
import postgres from 'postgres'
import { systemClock, type Clock } from '../../clock/clock.ts'
import type { Row, Value } from '../sql.ts'
import { StoreError } from '../store-error.ts'
import { readAddress, type Host, type PostgresAddress } from './address.ts'
import { HungError, isAnswer, postgresError, readOnlyError } from './postgres-error.ts'

/** Where statements can be run; they reject with a {@link StoreError}. Those that do not wait for each other go in one flight, where no pooler is in between. */
export type Session = {
  run: (statement: string, args?: readonly Value[]) => Promise<Row[]>
  /** Has the server prepare a statement, where it does: its first use would take a round trip of its own, within its transaction. */
  prepare?: (statement: string, args: readonly Value[]) => Promise<void>
  /** For answers of any length: row by row, none of which is kept. */
  each: (statement: string, args: readonly Value[], take: (values: readonly unknown[]) => void) => Promise<void>
}

/**
 * One connection to a database. It is gone for good once it was dropped, by whatever came between: make another one.
 */
export type Connection = Session & {
  readonly place: string
  /** Which of the address's hosts it leads to. */
  readonly host: Host
  isDropped: () => boolean
  /** Cuts it at once. What it was asked and did not answer rejects; whether it was done is not known. */
  drop: (reason: Error) => void
  close: () => Promise<void>
}

export type ConnectOptions = {
  /** Seconds without a byte after which it counts as dead. */
  deadline?: number
  /** Only reads, for which a standby is good enough. */
  readOnly?: boolean
  clock?: Clock
  /** Whether statements are prepared, each of which the server then keeps: not where their texts are ever new. */
  prepare?: boolean
}

const DEFAULT_DEADLINE_SECONDS = 5

const MAX_PIPELINE = 5000

/** The oldest version that has all that is used here. */
const OLDEST_VERSION = 13

/**
 * Connects to the first host of an address that is good for it.
 *
 * @throws {StoreError} refused: wrong address, user, password or database, or too old a server; unavailable: none answers
 */
export async function connect(url: string | PostgresAddress, options: ConnectOptions = {}): Promise<Connection> {
  const address = typeof url === 'string' ? readAddress(url) : url
  let failure: StoreError | undefined
  let kind: StoreError['kind'] = 'refused'
  for (const host of address.hosts) {
    try {
      return await connectTo(address, host, options)
    } catch (error) {
      const failed = postgresError(error, address.place)
      if (!(failed instanceof StoreError)) throw failed
      // Of several failures, one that needs a correction says most; but a host that is away may let this user in.
      if (failure === undefined || failed.kind === 'refused') failure = failed
      if (failed.kind !== 'refused') kind = failed.kind
    }
  }
  throw new StoreError(kind, failure!.message, failure!.cause)
}

async function connectTo(
  address: PostgresAddress,
  host: Host,
  { deadline = DEFAULT_DEADLINE_SECONDS, readOnly = false, clock = systemClock, prepare = true }: ConnectOptions,
): Promise<Connection> {
  const setUp = (parameters: Record<string, string>) =>
    openConnection(address, host, { deadline, clock, prepare, parameters })
  const timeout = { statement_timeout: String(Math.round(deadline * 800)) }
  let connection: RawConnection
  let server: Server
  try {
    connection = setUp(timeout)
    server = await connection.greet()
  } catch (error) {
    // A transaction pooler knows no such parameter; its user has the time-out set by ALTER ROLE, if at all.
    if (!/unsupported startup parameter/.test(String(error))) throw error
    connection = setUp({})
    server = await connection.greet()
  }
  const problem = problemOf(server, address, readOnly && !address.readWrite)
  if (problem !== undefined) {
    connection.drop(problem)
    throw problem
  }
  return connection
}

function problemOf(
  { version, readsOnly }: Server,
  { place }: PostgresAddress,
  mayRead: boolean,
): StoreError | undefined {
  if (version < OLDEST_VERSION) {
    const found = `${place} is PostgreSQL ${version}`
    return new StoreError(
      'refused',
      `${found}; callwatch needs ${OLDEST_VERSION} or later: upgrade it, or name another one`,
    )
  }
  if (readsOnly && !mayRead) return readOnlyError(place)
  return undefined
}

/** What the server says of itself. */
type Server = { version: number; readsOnly: boolean }
type RawConnection = Connection & { greet: () => Promise<Server> }

const GREETING = `
  SELECT current_setting('server_version_num')::int / 10000 AS version, pg_backend_pid() AS pid,
    pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS reads_only`

function openConnection(
  address: PostgresAddress,
  server: Host,
  {
    deadline,
    clock,
    prepare,
    parameters,
  }: { deadline: number; clock: Clock; prepare: boolean; parameters: Record<string, string> },
): RawConnection {
  const { place, user } = address
  const { host, port } = server
  let socket: Socket | undefined
  let dropped: Error | undefined
  /** Rejects each unanswered statement. A promise that all of them race with would keep every answer in memory. */
  const asked = new Set<(reason: Error) => void>()
  // Behind a pooler that gives each transaction another server, a statement that was prepared may be on the wrong one; and
  // PgBouncer takes the server away as soon as one statement is done, though half of the next was sent to it.
  let isDirect = false
  /** Grows with every row and every answer: the deadline of a statement begins again with each. */
  let heard = 0
  let last: Promise<unknown> = Promise.resolve()
  const prepared = new Set<string>()

  // One socket for one connection, made here: the client itself never cuts one on which nothing is heard.
  const settings = {
    host,
    port,
    user,
    database: address.database,
    password: address.password,
    ssl: tlsOptions(address, host),
    max: 1,
    // All that is asked for at the same time goes in one flight.
    max_pipeline: MAX_PIPELINE,
    fetch_types: false,
    connect_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    // The client would reconnect by itself, to the same host.
    onclose: () => drop(closedError()),
    connection: { application_name: 'callwatch', ...parameters },
    socket: () => {
      socket = connectSocket({ host, port })
      const connected = Promise.withResolvers<Socket>()
      socket.once('connect', () => connected.resolve(Object.assign(socket!, { host, port })))
      socket.once('error', connected.reject)
      return connected.promise
    },
  }
  const sql = postgres(settings)

  const drop = (reason: Error): void => {
    if (dropped !== undefined) return
    dropped = reason
    for (const fail of asked) fail(reason)
    const end = () => void sql.end({ timeout: 0 }).catch(() => undefined)
    if (socket === undefined || socket.destroyed) end()
    // The client writes a farewell while its side of TLS counts as open, and hears no error of that once it was closed.
    else socket.once('close', end).destroy()
  }

  async function watched<T>(query: Promise<T>): Promise<T> {
    query.catch(() => undefined)
    if (dropped !== undefined) throw postgresError(dropped, place)
    let heardBefore = heard
    let fail: (reason: Error) => void = () => undefined
    const watch = clock.scheduler.schedule(function () {
      if (heard === heardBefore) drop(new HungError(`nothing was heard for ${deadline.toFixed(1)} s`))
      heardBefore = heard
      this.schedule(undefined, deadline * 1000)
    }, deadline * 1000)
    try {
      return await new Promise<T>((resolve, reject) => {
        fail = reject
        asked.add(reject)
        query.then(resolve, reject)
      })
    } catch (error) {
      if (!isAnswer(error)) drop(error instanceof Error ? error : new Error(String(error)))
      throw postgresError(error, place)
    } finally {
      heard += 1
      asked.delete(fail)
      watch.unsubscribe()
    }
  }

  function runExclusive<T>(work: () => Promise<T>): Promise<T> {
    if (isDirect) return work()
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  const ask = (statement: string, args: readonly Value[]) =>
    sql.unsafe<Row[]>(statement, [...args], {
      prepare: prepare && isDirect && args.length > 0,
    })

  return {
    place,
    host: server,
    isDropped: () => dropped !== undefined,
    drop,
    run: (statement, args = []) => runExclusive(async () => withoutHoles(await watched(ask(statement, args)))),
    prepare: async (statement, args) => {
      if (!prepare || !isDirect || args.length === 0 || prepared.has(statement)) return
      prepared.add(statement)
      await watched(ask(statement, args).describe())
    },
    each: (statement, args, take) =>
      runExclusive(async () => {
        const rows = ask(statement, args)
          .values()
          .forEach((values: readonly unknown[]) => {
            heard += 1
            take(values)
          })
        await watched(rows)
      }),
    greet: async () => {
      const rows = await watched(ask(GREETING, []))
      const [row] = rows
      // A pooler's own greeting has another process id than the server that answers.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property that its types leave out
      isDirect = (rows as unknown as { state: { pid: number } }).state.pid === row!['pid']
      return { version: Number(row!['version']), readsOnly: row!['reads_only'] === true }
    },
    close: async () => {
      if (dropped !== undefined) return
      dropped = closedError()
      for (const fail of asked) fail(dropped)
      await sql.end({ timeout: deadline })
      socket?.destroy()
    },
  }
}

function tlsOptions({ tls: { mode, ca } }: PostgresAddress, host: string): boolean | 'prefer' | object {
  const trusted = ca === undefined ? {} : { ca }
  if (mode === 'disable') return false
  if (mode === 'prefer') return 'prefer'
  if (mode === 'require') return { rejectUnauthorized: false }
  if (mode === 'verify-ca') return { ...trusted, checkServerIdentity: () => undefined }
  return { ...trusted, host }
}

/**
 * Where a statement failed after its first rows, as by a timeout, postgres.js counts these for the next statement on the
 * connection: its rows begin that much later in their array.
 */
function withoutHoles(rows: Row[]): Row[] {
  return rows.length === 0 || 0 in rows ? rows : rows.filter(() => true)
}

function closedError(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'CONNECTION_CLOSED' })
}
