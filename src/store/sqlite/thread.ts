import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Subscription } from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import { StoreError } from '../store-error.ts'
import type { Say } from '../migrations.ts'
import { AnswerLost, type Sql } from '../sql.ts'
import type { EngineRequest } from './engine.ts'
import type { SqliteOptions } from './open-database.ts'
import { sqliteSql, type AskEngine } from './sqlite-sql.ts'

/** A request for the thread. */
export type ThreadRequest = { id: number; request: EngineRequest }

/** The result of a request: a value, the error of a store, or a bug. */
export type EngineResponse = {
  /** Of the request; OPENING in the first response, which says whether the file is open. */
  id: number
  value?: unknown
  /** For the log, before the response itself. */
  line?: string
  storeError?: Pick<StoreError, 'kind' | 'message'>
  bug?: unknown
}

/** What a thread opens: the store of a daemon, or beside it for queries alone. */
export type ThreadOptions = SqliteOptions & { readOnly?: true }

export const OPENING = 0

/** The thread of queries ends after so long without one: it takes some megabytes. */
const IDLE_SECONDS = 60

/** Threads that end in a row without a response, after which the store is refused. */
const MAX_ENDED_THREADS = 5

type Waiting = { resolve: (value: unknown) => void; reject: (error: unknown) => void }

/** A running thread. */
type Thread = { ask: (request: ThreadRequest) => Promise<unknown>; end: () => Promise<unknown> }

/**
 * Opens the file of a daemon with its engine in a thread of its own: a disk that takes long to confirm a write delays that
 * commit and nothing else.
 *
 * @throws {StoreError} refused: the file is damaged, or not ours; unavailable: another daemon uses it
 */
export async function openSqliteThread(options: SqliteOptions, say: Say): Promise<Sql> {
  const engine = engineThread(options, say)
  await engine.start()
  return sqliteSql(engine.ask, options.path, true)
}

/** The same file for queries that may take long, in another thread, which is there while it has some: no commit waits for them. */
export function sqliteReadingThread(options: SqliteOptions, clock: Clock): Sql {
  let engine: ReturnType<typeof engineThread> | undefined
  let inFlight = 0
  let idle: Subscription | undefined
  let isClosed = false
  const end = () => {
    const ending = engine
    engine = undefined
    void ending?.end()
  }
  const ask: AskEngine = async (request) => {
    if (isClosed) throw closedError(options)
    idle?.unsubscribe()
    engine ??= engineThread({ ...options, readOnly: true })
    inFlight += 1
    try {
      return await engine.ask(request)
    } finally {
      inFlight -= 1
      if (inFlight === 0) idle = clock.scheduler.schedule(end, IDLE_SECONDS * 1000)
    }
  }
  const close = async () => {
    isClosed = true
    idle?.unsubscribe()
    // SQLite is not interrupted: a query that runs ends in its own time, and nothing waits for it.
    end()
  }
  return { ...sqliteSql(ask, options.path), close }
}

function closedError({ path }: ThreadOptions): StoreError {
  return new StoreError('unavailable', `the store ${path} is closed`)
}

/** A thread with an engine. After it has ended, the store is unavailable until a request has started another one. */
function engineThread(options: ThreadOptions, say: Say = () => undefined) {
  let running: Promise<Thread> | undefined
  let lastId = OPENING
  let ended = 0
  let isClosed = false
  const thread = () => {
    if (isClosed) throw closedError(options)
    running ??= startThread(options, say, () => {
      running = undefined
      ended += 1
    }).catch((error: unknown) => {
      running = undefined
      throw error
    })
    return running
  }
  const ask: AskEngine = async (request) => {
    const id = ++lastId
    try {
      const running = await thread()
      const value = await running.ask({ id, request })
      ended = 0
      if (request.do === 'close') await end()
      return value
    } catch (error) {
      if (error instanceof AnswerLost && ended >= MAX_ENDED_THREADS)
        throw new StoreError('refused', `${error.message}, ${ended} times in a row`, error)
      throw error
    }
  }
  const end = async () => {
    isClosed = true
    const ending = await running?.catch(() => undefined)
    await ending?.end()
  }
  return { ask, end, start: async () => void (await thread()) }
}

/**
 * Starts a thread; resolves when it has opened the file.
 *
 * @param onEnd called when it has ended by itself, before its requests are rejected
 */
async function startThread(options: ThreadOptions, say: Say, onEnd: () => void): Promise<Thread> {
  const waiting = new Map<number, Waiting>()
  const worker = new Worker(new URL(`./thread-main${extname(import.meta.filename)}`, import.meta.url), {
    workerData: options,
    name: 'store',
  })
  let cause: Error | undefined
  let isEnding = false
  worker.on('message', ({ id, value, line, storeError, bug }: EngineResponse) => {
    if (line !== undefined) return say(line)
    const asked = waiting.get(id)
    if (asked === undefined) return
    const { resolve, reject } = asked
    waiting.delete(id)
    if (storeError !== undefined) reject(new StoreError(storeError.kind, storeError.message))
    else if (bug !== undefined) reject(bug)
    else resolve(value)
  })
  worker.on('error', (error: Error) => (cause = error))
  worker.on('exit', (code) => {
    if (isEnding) return
    onEnd()
    const reason = cause === undefined ? `exit code ${code}` : cause.message
    const error = new AnswerLost(`the store ${options.path} cannot be used: its thread ended (${reason})`, cause)
    for (const { reject } of waiting.values()) reject(error)
  })
  const ask = (id: number) => new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }))
  const end = () => {
    isEnding = true
    for (const { reject } of waiting.values()) reject(closedError(options))
    waiting.clear()
    return worker.terminate()
  }
  try {
    await ask(OPENING)
  } catch (error) {
    await end()
    throw error
  }
  return {
    ask: (request) => {
      worker.postMessage(request, [])
      return ask(request.id)
    },
    end,
  }
}
