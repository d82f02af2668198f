import { gzipSync } from 'node:zlib'
import { fastify } from 'fastify'
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
export async function replay(answers: readonly RecordedAnswer[], port = 0) {
  const recorded = Map.groupBy(answers, ({ path }) => `GET /v3${path}`)
  const app = fastify({ forceCloseConnections: true })
  app.all('/v3/*', (request, reply) => {
    const turns = recorded.get(`${request.method} ${request.raw.url}`) ?? [NOT_RECORDED]
    const { status, headers, body } = turns.length > 1 ? turns.shift()! : turns[0]!
    const content = typeof body === 'string' ? body : JSON.stringify(body)
    // Otherwise the server would add headers of its own.
    reply.hijack()
    reply.raw.sendDate = false
    reply.raw.writeHead(status, headers).end(headers['content-encoding'] === undefined ? content : gzipSync(content))
  })
  return { url: `${await app.listen({ host: '127.0.0.1', port })}/v3`, close: (): Promise<void> => app.close() }
}
