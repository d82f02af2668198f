import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, vi } from 'vitest'

/**
 * A proxy in the environment that lets nothing through; `asked` is what it was to reach.
 *
 * @param status its answer; 0: it never answers
 */
export async function proxyInEnvironment(status = 502): Promise<{ asked: (string | undefined)[] }> {
  const asked: (string | undefined)[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url)
    if (status > 0) response.writeHead(status).end()
  })
  proxy.on('connect', (request, socket) => {
    asked.push(request.url)
    if (status > 0) socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = proxy.address() as AddressInfo
  vi.stubEnv('http_proxy', `http://127.0.0.1:${port}`)
  return { asked }
}
