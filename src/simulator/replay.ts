import { once } from 'node:events'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { errorReply } from './answers/http.ts'

type RecordedAnswer = { path: string; status: number; headers: Record<string, string>; body: unknown }

const NOT_RECORDED = errorReply(404, 'ERR_API_NOT_FOUND', 'The recording has no such request.')

/**
 * Serves a recording of `check --probe --record` on 127.0.0.1. Each request is answered as it was recorded: several answers to
 * one request in turn, then the last of them again.
 *
 * @param port 0 picks a free port
 * @throws Error if the port is taken
 */
export async function replay(
  answers: readonly RecordedAnswer[],
  port = 0,
): Promise<{ url: string; close: () => void }> {
  const recorded = Map.groupBy(answers, ({ path }) => `GET /v3${path}`)
  const server = createServer((request, response) => {
    const turns = recorded.get(`${request.method} ${request.url}`) ?? [NOT_RECORDED]
    const { status, headers, body } = turns.length > 1 ? turns.shift()! : turns[0]!
    const content = typeof body === 'string' ? body : JSON.stringify(body)
    response.sendDate = false
    response.writeHead(status, headers).end(headers['content-encoding'] === undefined ? content : gzipSync(content))
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('a server that listens has an address')
  return { url: `http://127.0.0.1:${address.port}/v3`, close: () => server.close() }
}
