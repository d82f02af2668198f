import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listenOn } from './commands/local-server.ts'
import { trusted } from './commands/self-signed.ts'

/** A server of HTTP/2 and HTTP/1.1 behind a firewall that can forget connections. */
export type SwallowingServer = {
  url: string
  /** How many connections are open. */
  connections: () => number
  /**
   * From now on, nothing passes on the connections that are open: neither end is told. New ones work.
   *
   * @param onLost called when something comes on such a connection for the first time
   */
  swallow: (onLost: () => unknown) => void
}

/** A {@link SwallowingServer} with this listener, whose certificate this process trusts until the test ends. */
export async function swallowingServer(
  answer: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Promise<SwallowingServer> {
  const server = createSecureServer({ ...trusted(), allowHTTP1: true }, answer)
  const port = await listenOn(server)
  const open = new Set<[Socket, Socket]>()
  const firewall = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    const pair: [Socket, Socket] = [near, far]
    open.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('error', () => undefined).on('close', () => open.delete(pair) && to.destroy())
      from.pipe(to)
    }
  })
  const url = `https://127.0.0.1:${await listenOn(firewall)}`
  const lost: Socket[] = []
  onTestFinished(() => {
    for (const socket of [...lost, ...[...open].flat()]) socket.destroy()
  })
  return {
    url,
    connections: () => open.size,
    swallow: (onLost) => {
      for (const [near, far] of open) {
        near.unpipe()
        far.unpipe().resume()
        near.once('data', onLost).resume()
        lost.push(near, far)
      }
      open.clear()
    },
  }
}
