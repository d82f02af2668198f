import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../store.ts'
import { openSqliteEngine, type SqliteEngine, type SqliteOptions } from './engine.ts'
import { attempting } from './sqlite-error.ts'
import { callMethod } from './sqlite-store.ts'
import { OPENING, type Answer, type Request } from './thread.ts'

// The store's thread: opens the file, and answers one request after the other.

const port = parentPort!
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thread.ts gives it
const options = workerData as SqliteOptions
const { attempt } = attempting(options.path)
let engine: SqliteEngine | undefined

answer(OPENING, () => {
  engine = openSqliteEngine(options)
})
port.on('message', ({ id, method, args }: Request) => {
  answer(id, () => callMethod(engine!, method, args))
  if (method === 'close') port.close()
})

function answer(id: number, work: () => unknown): void {
  let sent: Answer
  try {
    sent = { id, value: attempt(work) }
  } catch (error) {
    sent =
      error instanceof StoreError
        ? { id, storeError: { kind: error.kind, message: error.message } }
        : { id, bug: error }
  }
  port.postMessage(sent, recordsIn(sent))
}

/** Memory that need not be copied: each part of a target's calls has its own. */
function recordsIn({ value }: Answer): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null || !('records' in value)) return []
  return value.records instanceof Uint8Array && value.records.buffer instanceof ArrayBuffer
    ? [value.records.buffer]
    : []
}
