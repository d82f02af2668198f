import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The first free port on loopback, starting with `first`.
 *
 * @throws {Error} with a `code` if a port cannot be used for another reason
 */
export async function freePort(first: number): Promise<number> {
  for (let port = first; ; port += 1) {
    await using server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      return port
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    }
  }
}
