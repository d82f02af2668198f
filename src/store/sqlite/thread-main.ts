import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../store-error.ts'
import type { Engine } from './engine.ts'
import { openEngine, openReadingEngine } from './open-database.ts'
import { attempting } from './sqlite-error.ts'
import type { EngineResponse, ThreadOptions, ThreadRequest } from './thread.ts'

// The store's thread. It opens the file at the first request, and answers requests one after the other.

const port = parentPort!
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thread.ts gives it
const options = workerData as ThreadOptions
const { attempt } = attempting(options.path)
const open = (): Engine =>
  options.readOnly === true
    ? openReadingEngine(options.path)
    : openEngine(options, (line) => port.postMessage({ line } satisfies EngineResponse))
let engine: Engine | undefined

port.on('message', ({ id, request }: ThreadRequest) => {
  let response: EngineResponse
  try {
    response = { id, value: attempt(() => (engine ??= open())(request)) }
  } catch (error) {
    response =
      error instanceof StoreError
        ? { id, storeError: { kind: error.kind, message: error.message } }
        : { id, bug: error }
  }
  port.postMessage(response)
  if (request.do === 'close') port.close()
})
