import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
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

export const OPENING = 0

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
 * commit and nothing else. After a thread has ended the store is unavailable until a request has started another one.
 *
 * @throws {StoreError} refused: the file is in use by another daemon, damaged, or not ours
 */
export async function openSqliteThread(options: SqliteOptions): Promise<Store> {
  let running: Promise<Thread> | undefined
  let lastId = OPENING
  let ended = 0
  let isClosed = false
  const thread = () => {
    if (isClosed) throw new StoreError('unavailable', `the store ${options.path} is closed`)
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
      const { ask, end } = await thread()
      const value = await ask({ id, method, args }, transfer)
      ended = 0
      if (method === 'close') {
        isClosed = true
        await end()
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the method returned
      return value as ReturnType<SqliteEngine[typeof method]>
    } catch (error) {
      if (error instanceof EngineEnded && ended >= MAX_ENDED_THREADS)
        throw new StoreError('refused', `${error.message}, ${ended} times in a row`, error)
      throw error
    }
  }
  await thread()
  return sqliteStore(invoke)
}

/**
 * Starts a thread; resolves when it has opened the file.
 *
 * @param onEnd called when it has ended by itself, before its requests are rejected
 */
async function startThread(options: SqliteOptions, onEnd: () => void): Promise<Thread> {
  const waiting = new Map<number, Waiting>()
  const worker = new Worker(new URL(`./thread-main${extname(import.meta.filename)}`, import.meta.url), {
    workerData: options,
    name: 'store',
  })
  let cause: Error | undefined
  let isEnding = false
  worker.on('message', ({ id, value, storeError, bug }: EngineResponse) => {
    const { resolve, reject } = waiting.get(id)!
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
