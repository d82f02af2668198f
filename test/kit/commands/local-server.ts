import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** An HTTP server with this listener on a free port of loopback; closed after the test. */
export async function localServer(answer: RequestListener): Promise<{ url: string; port: number }> {
  const server = createServer(answer)
  await listening(server)
  const { port } = addressOf(server)
  return { url: `http://127.0.0.1:${port}`, port }
}

/** A port of loopback on which nothing is listening. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = addressOf(server)
  server.close()
  await once(server, 'close')
  return port
}

async function listening(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
}

function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen')
  return address
}
