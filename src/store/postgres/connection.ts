import { connect as connectSocket, type Socket } from 'node:net'
import postgres from 'postgres'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { oneByOne } from '../../clock/one-by-one.ts'
import type { Row, Value } from '../sql.ts'
import { StoreError } from '../store-error.ts'
import { readAddress, type Host, type PostgresAddress } from './address.ts'
import { GREETING, readGreeting, startupParameters, WITHOUT_NEW_TIMEOUTS } from './greeting.ts'
import { HungError, isAnswer, postgresError } from './postgres-error.ts'

/** One connection to a database. Once it is dropped for any reason, it cannot be used any more. */
export type Connection = Omit<ReturnType<typeof openConnection>, 'greet'>

/**
 * Runs statements, which reject with a {@link StoreError}. Without a pooler, statements that do not wait for each other share a
 * round trip.
 */
export type Session = Pick<Connection, 'run' | 'prepare' | 'each'>

export type ConnectOptions = {
  /** After this many seconds without a byte, the connection counts as dead. */
  deadline?: number
  /** The same for the statements of an open connection; default: `deadline`. */
  patience?: number
  /** Only reads, so that a standby is accepted. */
  readOnly?: boolean
  clock?: Clock
  /** Whether statements are prepared. The server keeps each prepared statement, so do not prepare texts that are always new. */
  prepare?: boolean
  /** Gets the texts that the connection listens for. */
  onNotify?: (text: string) => void
}

const DEFAULT_DEADLINE_SECONDS = 5

/** How long a server that was told of the end of a connection may take to close it. */
const CLOSE_TIMEOUT_SECONDS = 1

const MAX_PIPELINE = 5000

/**
 * Connects to the first suitable host of an address.
 *
 * @throws {StoreError} refused: wrong address, user, password or database, or the server is too old; unavailable: no host answers
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
      // If several hosts fail, the error that needs a correction is the most useful. But a host that is down may accept this user.
      if (failure === undefined || failed.kind === 'refused') failure = failed
      if (failed.kind !== 'refused') kind = failed.kind
    }
  }
  throw kind === 'refused' ? failure! : new StoreError(kind, failure!.message, failure!.cause)
}

/** A command reads and sorts whole tables, so its statements may take longer than a daemon's. */
const LONG_SECONDS = 600

/**
 * Connects for statements that take long, to a host that answers within the usual deadline.
 *
 * @param prepare prepares the connection; if it throws, the connection is closed
 * @throws {StoreError} as {@link connect}
 */
export async function connectForLongStatements(
  url: string,
  prepare: (connection: Connection) => Promise<unknown>,
  options: Pick<ConnectOptions, 'readOnly' | 'deadline'> = {},
): Promise<Connection> {
  await using opening = new AsyncDisposableStack()
  const connection = opening.use(await connect(url, { ...options, patience: LONG_SECONDS }))
  await prepare(connection)
  opening.move()
  return connection
}

async function connectTo(
  address: PostgresAddress,
  host: Host,
  {
    deadline = DEFAULT_DEADLINE_SECONDS,
    patience = deadline,
    readOnly = false,
    clock = systemClock,
    prepare = true,
    onNotify,
  }: ConnectOptions,
): Promise<Connection> {
  const setUp = async (parameters: Record<string, string>) => {
    const connection = openConnection(address, host, { deadline, patience, clock, prepare, onNotify, parameters })
    await connection.greet(readOnly && !address.readWrite)
    return connection
  }
  return setUp(startupParameters(patience)).catch((error: unknown) => {
    // A transaction pooler does not support these parameters. Its user can set them with ALTER ROLE.
    if (!/unsupported startup parameter/.test(String(error))) throw error
    return setUp({})
  })
}

type OpenOptions = Required<Pick<ConnectOptions, 'deadline' | 'patience' | 'clock' | 'prepare'>> &
  Pick<ClientOptions, 'onNotify' | 'parameters'>

function openConnection(address: PostgresAddress, server: Host, options: OpenOptions) {
  const { deadline, patience, clock, prepare } = options
  const { place } = address
  let socket: Socket | undefined
  // A pooler may give each transaction another server, on which a statement is not prepared. PgBouncer also takes the server away
  // as soon as one statement is done, even if half of the next one was already sent to it.
  let isDirect = false
  const inTurn = oneByOne()
  const prepared = new Set<string>()

  const sql = clientOf(address, server, {
    ...options,
    onSocket: (opened) => void (socket = opened),
    onClose: () => drop(closedError()),
  })

  const drop = (reason: Error): void => {
    if (!fail(reason)) return
    const end = () => void sql.end({ timeout: 0 }).catch(() => undefined)
    if (socket === undefined || socket.destroyed) end()
    // The client writes a last message while its side of TLS is open, and after closing it does not handle an error of that write.
    else socket.once('close', end).destroy()
  }
  const { fail, areFailed, hear, watched } = watchStatements({ place, deadline: patience, clock, drop })

  const runExclusive = <T>(work: () => Promise<T>): Promise<T> => (isDirect ? work() : inTurn(work))

  const ask = (statement: string, args: readonly Value[]) =>
    sql.unsafe<Row[]>(statement, [...args], { prepare: prepare && isDirect && args.length > 0 })

  const close = async (): Promise<void> => {
    if (!fail(closedError())) return
    // All statements have been answered or given up.
    await sql.end({ timeout: CLOSE_TIMEOUT_SECONDS })
    socket?.destroy()
  }

  return {
    place,
    /** The host of the address that it leads to. */
    host: server,
    isDropped: areFailed,
    /** Whether it leads to the server itself, and not to a pooler. */
    isDirect: () => isDirect,
    /** Drops the connection at once. Unanswered statements reject; whether the server ran them is unknown. */
    drop,
    run: (statement: string, args: readonly Value[] = []): Promise<Row[]> =>
      runExclusive(async () => withoutHoles(await watched(ask(statement, args)))),
    /**
     * Prepares a statement, if the server prepares statements. Otherwise its first use would take a further round trip within its
     * transaction.
     */
    prepare: async (statement: string, args: readonly Value[]): Promise<void> => {
      if (!prepare || !isDirect || args.length === 0 || prepared.has(statement)) return
      prepared.add(statement)
      await watched(ask(statement, args).describe())
    },
    /** Passes on row by row without keeping them, for answers of any length. */
    each: (statement: string, args: readonly Value[], onRow: (values: readonly unknown[]) => void): Promise<void> =>
      runExclusive(async () => {
        const rows = ask(statement, args)
          .values()
          .forEach((values) => {
            hear()
            onRow(values)
          })
        await watched(rows)
      }),
    greet: async (mayRead: boolean): Promise<void> => {
      const greeting = ask(GREETING, []).then((rows) => readGreeting(rows, place, mayRead))
      const greeted = await watched(greeting, deadline)
      isDirect = greeted.isDirect
      if (isDirect && greeted.hasNewTimeouts) await watched(ask(WITHOUT_NEW_TIMEOUTS, []), deadline)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

type WatchOptions = { place: string; deadline: number; clock: Clock; drop: (reason: Error) => void }

/** The unanswered statements of a connection. Drops it if nothing is heard for longer than the deadline. */
function watchStatements({ place, deadline, clock, drop }: WatchOptions) {
  let failure: Error | undefined
  /** Rejects each unanswered statement. If all of them raced with one promise, it would keep every answer in memory. */
  const asked = new Set<(reason: Error) => void>()
  /** Incremented for every row and every answer. Each of them restarts the deadline of a statement. */
  let heard = 0
  return {
    areFailed: () => failure !== undefined,
    /** Rejects all unanswered and later statements; returns whether it is the first time. */
    fail: (reason: Error): boolean => {
      if (failure !== undefined) return false
      failure = reason
      for (const fail of asked) fail(reason)
      return true
    },
    hear: () => void (heard += 1),
    watched: async <T>(query: Promise<T>, seconds = deadline): Promise<T> => {
      query.catch(() => undefined)
      if (failure !== undefined) throw postgresError(failure, place)
      let heardBefore = heard
      let fail: (reason: Error) => void = () => undefined
      const watch = clock.scheduler.schedule(function () {
        if (heard === heardBefore) drop(new HungError(`nothing was heard for ${seconds.toFixed(1)} s`))
        heardBefore = heard
        this.schedule(undefined, seconds * 1000)
      }, seconds * 1000)
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
    },
  }
}

type ClientOptions = {
  parameters: Record<string, string>
  onNotify: ConnectOptions['onNotify']
  onSocket: (socket: Socket) => void
  onClose: () => void
}

function clientOf(
  address: PostgresAddress,
  { host, port }: Host,
  { parameters, onNotify, onSocket, onClose }: ClientOptions,
): postgres.Sql {
  // The socket is made here, because the client itself never drops a silent one.
  const settings = {
    host,
    port,
    user: address.user,
    database: address.database,
    password: address.password,
    ssl: tlsOptions(address, host),
    max: 1,
    // Statements that are requested at the same time share a round trip.
    max_pipeline: MAX_PIPELINE,
    fetch_types: false,
    connect_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    onnotify: (_channel: string, text: string) => onNotify?.(text),
    // Otherwise the client would reconnect on its own, to the same host.
    onclose: onClose,
    connection: { application_name: 'callwatch', ...parameters },
    socket: () => {
      const socket = connectSocket({ host, port })
      onSocket(socket)
      const connected = Promise.withResolvers<Socket>()
      socket.once('connect', () => connected.resolve(Object.assign(socket, { host, port })))
      socket.once('error', connected.reject)
      return connected.promise
    },
  }
  return postgres(settings)
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
 * If a statement fails after its first rows, for example by a timeout, postgres.js counts these rows for the next statement on the
 * connection. Its rows then begin that much later in the array.
 */
function withoutHoles(rows: Row[]): Row[] {
  return rows.length === 0 || 0 in rows ? rows : rows.filter(() => true)
}

function closedError(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'CONNECTION_CLOSED' })
}
