import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../store.ts'
import { openSqliteEngine, type SqliteEngine } from './engine.ts'
import { openToRead } from './open-database.ts'
import { rowsIn } from './rows-in.ts'
import { attempting } from './sqlite-error.ts'
import { invokeMethod } from './sqlite-store.ts'
import { OPENING, type EngineResponse, type EngineRequest, type ThreadOptions } from './thread.ts'

// The store's thread: opens the file, and answers one request after the other.

const port = parentPort!
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thread.ts gives it
const options = workerData as ThreadOptions
const { attempt } = attempting(options.path)
let engine: Partial<SqliteEngine> | undefined

respond(OPENING, () => {
  engine = options.readOnly === true ? { rows: rowsIn(openToRead(options.path)) } : openSqliteEngine(options)
})
port.on('message', ({ id, method, args }: EngineRequest) => {
  respond(id, () => invokeMethod(engine!, method, args))
  if (method === 'close') port.close()
})

function respond(id: number, work: () => unknown): void {
  let response: EngineResponse
  try {
    response = { id, value: attempt(work) }
  } catch (error) {
    response =
      error instanceof StoreError
        ? { id, storeError: { kind: error.kind, message: error.message } }
        : { id, bug: error }
  }
  port.postMessage(response, recordsIn(response))
}

/** Memory that can be moved instead of copied: each part of a target's calls has its own. */
function recordsIn({ value }: EngineResponse): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null || !('records' in value)) return []
  return value.records instanceof Uint8Array && value.records.buffer instanceof ArrayBuffer
    ? [value.records.buffer]
    : []
}
