import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** An HTTP server with this listener on a free port of loopback; closed after the test. */
export async function localServer(answer: RequestListener): Promise<{ url: string; port: number }> {
  const port = await listenOn(createServer(answer))
  return { url: `http://127.0.0.1:${port}`, port }
}

/** Ports that the fetch of browsers and of Node.js refuses (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED_PORTS = [10_080, 6679, 6697, 6666, 6667, 6668, 6669, 5060, 5061, 4190]

/** Lets a server listen on a port that browsers block. @returns the port */
export async function listenOnBlockedPort(server: Server): Promise<number> {
  for (const port of BLOCKED_PORTS) {
    const listens = await listenOn(server, port).catch(() => undefined)
    if (listens !== undefined) return port
  }
  throw new Error('every port that browsers block is in use')
}

/** A port of loopback on which nothing is listening. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listenOn(server)
  server.close()
  await once(server, 'close')
  return port
}

/** Lets a server listen on this port of loopback, 0 for a free one, until the test has finished. @returns the port */
export async function listenOn(server: Server & { closeAllConnections?: () => void }, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections?.()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen')
  return address.port
}
