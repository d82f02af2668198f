import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { DeliveryError } from '../../../src/network/delivery-error.ts'

/** The variables of the environment that say which requests use a proxy. */
export const PROXY_VARIABLES = ['http', 'https', 'all', 'no']
  .map((kind) => `${kind}_proxy`)
  .flatMap((name) => [name, name.toUpperCase()])

/** What no error may hold. */
export const SECRET = 'T0AAAA/B0BBBB/very-secret'

/** What a receiver got. */
export type Received = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** Keeps the environment's proxy out of the tests of a file, and closes what its receivers have open. */
export function withReceivers(): { open: (handler: RequestListener) => Promise<{ url: string; server: Server }> } {
  let server: Server | undefined
  beforeEach(() => {
    for (const name of PROXY_VARIABLES) {
      vi.stubEnv(name, undefined)
    }
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    server?.closeAllConnections()
    server?.close()
  })
  return {
    open: async (handler) => {
      const opened = createServer(handler).listen(0, '127.0.0.1')
      server = opened
      await once(opened, 'listening')
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
      const { port } = opened.address() as AddressInfo
      return { url: `http://127.0.0.1:${port}/services/${SECRET}`, server: opened }
    },
  }
}

/** A request, once all of it has come. */
export async function read(request: IncomingMessage): Promise<Received> {
  let body = ''
  for await (const part of request.setEncoding('utf8')) body += part
  const { method = '', url = '', headers } = request
  return { method, path: url, headers, body }
}

/** Why a delivery failed; nothing of it may hold the address. */
export async function failure(delivery: Promise<unknown>): Promise<DeliveryError> {
  const error = await delivery.then(
    () => expect.unreachable('it was delivered'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DeliveryError)) throw error
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/T0AAAA|B0BBBB|very-secret|127\.0\.0\.1/)
  return error
}
