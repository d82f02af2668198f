import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Subject, switchMap, timer } from 'rxjs'
import { StoreError } from '../store-error.ts'
import type { Say } from '../migrations.ts'
import { AnswerLost, type Database } from '../sql.ts'
import type { EngineRequest } from './engine.ts'
import type { SqliteOptions } from './open-database.ts'
import { sqliteSql, type AskEngine } from './sqlite-sql.ts'

/** A request for the thread. */
export type ThreadRequest = { id: number; request: EngineRequest }

/** The result of a request: a value, an error of the store, or a bug. */
export type EngineResponse = {
  /** The id of the request. OPENING in the first response, which says whether the file is open. */
  id: number
  value?: unknown
  /** A line for the log, sent before the response. */
  line?: string
  storeError?: Pick<StoreError, 'kind' | 'message'>
  bug?: unknown
}

/** The file that a thread opens, as the daemon's store or only for queries. */
export type ThreadOptions = SqliteOptions & { readOnly?: true }

export const OPENING = 0

/** A thread for queries ends after this long without one, because it takes 15 MB. */
const REST_SECONDS = 10

/** After this many threads in a row ended without a response, the store is refused. */
const MAX_ENDED_THREADS = 5

/**
 * Opens a daemon's file in a separate thread, so that a disk that takes long to confirm a write delays that commit only.
 *
 * @throws {StoreError} refused: the file is damaged, or not ours; unavailable: another daemon uses it
 */
export async function openSqliteThread(options: SqliteOptions, say: Say): Promise<Database> {
  const { ask, start } = engineThread(options, say)
  await start()
  return sqliteSql(ask, options.path, true)
}

/**
 * Opens the same file in another thread for queries that may take long, so that no commit waits for them.
 */
export function sqliteReadingThread(options: SqliteOptions): Database {
  const { ask, end, endUnused } = engineThread({ ...options, readOnly: true })
  const answered$ = new Subject<void>()
  const resting = answered$.pipe(switchMap(() => timer(REST_SECONDS * 1000))).subscribe(endUnused)
  const askAndRest: AskEngine = (request) => ask(request).finally(() => answered$.next())
  const close = async () => {
    resting.unsubscribe()
    // SQLite is not interrupted. A running query continues to its end, and nothing waits for it.
    void end()
  }
  return { ...sqliteSql(askAndRest, options.path), close }
}

/** A thread with an engine. When it has ended, the store is unavailable until a request has started another one. */
function engineThread(options: ThreadOptions, say?: Say) {
  const answers = pendingAnswers()
  let running: { worker: Worker; opened: Promise<unknown> } | undefined
  let ended = 0
  let isClosed = false

  const stop = async (worker: Worker) => {
    if (running?.worker === worker) running = undefined
    await worker.terminate()
  }
  function start() {
    const worker = startWorker(options, {
      onResponse: (response) => {
        if (response.line !== undefined) return say?.(response.line)
        answers.settle(response)
      },
      onEnd: (error) => {
        if (running?.worker !== worker) return
        running = undefined
        ended += 1
        answers.fail(error)
      },
    })
    const opened = answers.to(OPENING).catch(async (error: Error) => {
      answers.fail(error)
      await stop(worker)
      throw error
    })
    return { worker, opened }
  }

  /** Starts the thread if it does not run. */
  const open = () => {
    if (isClosed) throw closedError(options)
    running ??= start()
    return running
  }
  /** Ends the thread if it has nothing to do. */
  const endUnused = () => {
    if (running !== undefined && answers.areNone()) void stop(running.worker)
  }
  const ask: AskEngine = async (request) => {
    try {
      const { worker, opened } = open()
      const id = answers.newId()
      worker.postMessage({ id, request } satisfies ThreadRequest, [])
      const [value] = await Promise.all([answers.to(id), opened])
      ended = 0
      if (request.do === 'close') await end()
      return value
    } catch (error) {
      if (error instanceof AnswerLost && ended >= MAX_ENDED_THREADS)
        throw new StoreError('refused', `${error.message}, ${ended} times in a row`, error)
      throw error
    }
  }
  const end = async (): Promise<void> => {
    isClosed = true
    answers.fail(closedError(options))
    if (running !== undefined) await stop(running.worker)
  }
  return { ask, end, endUnused, start: async () => void (await open().opened) }
}

/** The requests to a thread that it has not answered. */
function pendingAnswers() {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = OPENING
  return {
    newId: () => ++lastId,
    areNone: () => waiting.size === 0,
    to: (id: number): Promise<unknown> => {
      const asked = Promise.withResolvers<unknown>()
      waiting.set(id, asked)
      return asked.promise
    },
    settle: ({ id, value, storeError, bug }: EngineResponse): void => {
      const asked = waiting.get(id)
      waiting.delete(id)
      if (storeError !== undefined) asked?.reject(new StoreError(storeError.kind, storeError.message))
      else if (bug !== undefined) asked?.reject(bug)
      else asked?.resolve(value)
    },
    fail: (error: Error): void => {
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    },
  }
}

type Handlers = { onResponse: (response: EngineResponse) => void; onEnd: (error: AnswerLost) => void }

function startWorker(options: ThreadOptions, { onResponse, onEnd }: Handlers): Worker {
  const worker = new Worker(new URL(`./thread-main${extname(import.meta.filename)}`, import.meta.url), {
    workerData: options,
    name: 'store',
  })
  let cause: Error | undefined
  worker.on('message', onResponse)
  worker.on('error', (error: Error) => (cause = error))
  worker.on('exit', (code) => {
    const reason = cause === undefined ? `exit code ${code}` : cause.message
    onEnd(new AnswerLost(`the store ${options.path} cannot be used: its thread ended (${reason})`, cause))
  })
  return worker
}

function closedError({ path }: ThreadOptions): StoreError {
  return new StoreError('unavailable', `the store ${path} is closed`)
}
