import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Subscription } from 'rxjs'
import { systemClock, type Clock } from '../../clock/clock.ts'
import { StoreError, type Store } from '../store.ts'
import type { SqliteEngine, SqliteOptions } from './engine.ts'
import { EngineEnded, sqliteStore, type InvokeEngine } from './sqlite-store.ts'

/** A method of the engine for the thread to run. */
export type EngineRequest = {
  id: number
  method: keyof SqliteEngine
  args: Parameters<SqliteEngine[keyof SqliteEngine]>
}

/** The result of a request: a value, the error of a store, or a bug. */
export type EngineResponse = {
  /** Of the request; OPENING in the first response, which says whether the file is open. */
  id: number
  value?: unknown
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
type Thread = {
  ask: (request: EngineRequest, transfer: ArrayBuffer[]) => Promise<unknown>
  end: () => Promise<unknown>
}

/**
 * Opens the embedded store with its engine in a thread of its own: a disk that takes long to confirm a write delays that
 * commit and nothing else. Queries that may take long run in another thread, which is there while it has some: no commit
 * waits for them.
 *
 * @throws {StoreError} refused: the file is damaged, or not ours; unavailable: another daemon uses it
 */
export async function openSqliteThread(given: SqliteOptions, clock: Clock = systemClock): Promise<Store> {
  const options = { ...given }
  const engine = engineThread(options)
  await engine.start()
  const setReceivers: Store['setReceivers'] = async (receivers) => {
    // For the next engine, if this one ends.
    options.receivers = receivers
    await engine.invoke('setReceivers', [receivers])
  }
  if (options.path === ':memory:') return { ...sqliteStore(engine.invoke), setReceivers }
  let reading: ReturnType<typeof engineThread> | undefined
  let inFlight = 0
  let idle: Subscription | undefined
  const endReading = async () => {
    const ending = reading
    reading = undefined
    await ending?.end()
  }
  let isClosed = false
  const read: InvokeEngine = async (...request) => {
    if (isClosed) throw closedError(options)
    idle?.unsubscribe()
    reading ??= engineThread({ ...options, readOnly: true })
    inFlight += 1
    try {
      return await reading.invoke(...request)
    } finally {
      inFlight -= 1
      if (inFlight === 0) idle = clock.scheduler.schedule(() => void endReading(), IDLE_SECONDS * 1000)
    }
  }
  const store = sqliteStore(engine.invoke, {
    read,
    endReading: async () => {
      isClosed = true
      idle?.unsubscribe()
      // SQLite is not interrupted: a query that runs ends in its own time, and nothing waits for it.
      void endReading()
    },
  })
  return { ...store, setReceivers }
}

function closedError({ path }: ThreadOptions): StoreError {
  return new StoreError('unavailable', `the store ${path} is closed`)
}

/** A thread with an engine. After it has ended, the store is unavailable until a request has started another one. */
function engineThread(options: ThreadOptions) {
  let running: Promise<Thread> | undefined
  let lastId = OPENING
  let ended = 0
  let isClosed = false
  const thread = () => {
    if (isClosed) throw closedError(options)
    running ??= startThread(options, () => {
      running = undefined
      ended += 1
    }).catch((error: unknown) => {
      running = undefined
      throw error
    })
    return running
  }
  const invoke: InvokeEngine = async (method, args, transfer = []) => {
    const id = ++lastId
    try {
      const { ask } = await thread()
      const value = await ask({ id, method, args }, transfer)
      ended = 0
      if (method === 'close') await end()
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the method returned
      return value as ReturnType<SqliteEngine[typeof method]>
    } catch (error) {
      if (error instanceof EngineEnded && ended >= MAX_ENDED_THREADS)
        throw new StoreError('refused', `${error.message}, ${ended} times in a row`, error)
      throw error
    }
  }
  const end = async () => {
    isClosed = true
    const ending = await running?.catch(() => undefined)
    await ending?.end()
  }
  return { invoke, end, start: async () => void (await thread()) }
}

/**
 * Starts a thread; resolves when it has opened the file.
 *
 * @param onEnd called when it has ended by itself, before its requests are rejected
 */
async function startThread(options: ThreadOptions, onEnd: () => void): Promise<Thread> {
  const waiting = new Map<number, Waiting>()
  const worker = new Worker(new URL(`./thread-main${extname(import.meta.filename)}`, import.meta.url), {
    workerData: options,
    name: 'store',
  })
  let cause: Error | undefined
  let isEnding = false
  worker.on('message', ({ id, value, storeError, bug }: EngineResponse) => {
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
    const error = new EngineEnded(`the store ${options.path} cannot be used: its thread ended (${reason})`, cause)
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
    ask: (request, transfer) => {
      worker.postMessage(request, transfer)
      return ask(request.id)
    },
    end,
  }
}
