import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The first free port on loopback, starting with `first`.
 *
 * @throws {Error} with a `code` if a port cannot be used for another reason
 */
export async function freePort(first: number): Promise<number> {
  let port = first
  while (!(await isFree(port))) port += 1
  return port
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
