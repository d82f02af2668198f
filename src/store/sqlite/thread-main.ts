import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../store-error.ts'
import { BUSY_TIMEOUT_MS, sqliteEngine, type Engine } from './engine.ts'
import { openEngine } from './open-database.ts'
import { attempt } from './sqlite-error.ts'
import { OPENING, type EngineResponse, type ThreadOptions, type ThreadRequest } from './thread.ts'

// The store's thread. It opens the file, and answers requests one after the other.

const port = parentPort!
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thread.ts gives it
const options = workerData as ThreadOptions
let engine: Engine | undefined

respond(OPENING, () => {
  engine =
    options.readOnly === true
      ? sqliteEngine(new DatabaseSync(options.path, { readOnly: true, timeout: BUSY_TIMEOUT_MS }))
      : openEngine(options, (line) => port.postMessage({ id: OPENING, line } satisfies EngineResponse))
})
port.on('message', ({ id, request }: ThreadRequest) => {
  respond(id, () => engine!(request))
  if (request.do === 'close') port.close()
})

function respond(id: number, work: () => unknown): void {
  let response: EngineResponse
  try {
    response = { id, value: attempt(options.path, work) }
  } catch (error) {
    response =
      error instanceof StoreError
        ? { id, storeError: { kind: error.kind, message: error.message } }
        : { id, bug: error }
  }
  port.postMessage(response)
}
