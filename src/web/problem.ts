import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { QueryError } from '../schema/query-error.ts'
import { StoreError } from '../store/store-error.ts'
import { problemView, STATUS_CODES } from '../views/problem.ts'
import { accepts } from './accepts.ts'
import { notFoundPage } from './plain-page.ts'

const CONTENT_TYPE = 'application/problem+json'

/** Answers with an error. `members` are further fields of its body. */
export function sendProblem(
  reply: FastifyReply,
  status: number,
  detail: string,
  members: Readonly<Record<string, string>> = {},
): FastifyReply {
  return reply
    .code(status)
    .type(CONTENT_TYPE)
    .send({ ...problemView(status, detail), ...members })
}

/** Answers an error of a hook or a handler, or a request with a path that cannot be decoded or has a part that is too long. */
export function answerError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const status = error instanceof StoreError ? 503 : error instanceof QueryError ? 400 : (error.statusCode ?? 500)
  sendProblem(reply, status, error.message)
}

/** Answers errors of hooks and handlers, and requests of paths that do not exist, or that come while the server closes. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(({ method, url, headers }, reply) =>
    method === 'GET' && accepts(headers.accept, 'text/html')
      ? reply.code(404).type('text/html; charset=utf-8').send(notFoundPage(url))
      : sendProblem(reply, 404, `there is no ${method} ${url}`),
  )
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (_request, reply, done) => {
    if (isClosing) sendProblem(reply, 503, 'this daemon is stopping')
    else done()
  })
}

const UNREADABLE: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not arrive completely in time'],
  HPE_HEADER_OVERFLOW: [431, 'the headers of the request are too long'],
}

/** Answers what Node.js could not read as a request, and closes the connection. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, detail] = UNREADABLE[error.code ?? ''] ?? [400, 'the request is not valid HTTP']
  // On a connection that has answered, this would be in the middle of a response.
  if (socket.writable && socket.bytesWritten === 0) {
    const body = JSON.stringify(problemView(status, detail))
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'connection: close',
      `content-type: ${CONTENT_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroy(error)
}
