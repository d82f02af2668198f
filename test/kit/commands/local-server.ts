import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** An HTTP server with this listener on a free port of loopback; closed after the test. */
export async function localServer(answer: RequestListener): Promise<{ url: string; port: number }> {
  const port = await listenOn(createServer(answer))
  return { url: `http://127.0.0.1:${port}`, port }
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
