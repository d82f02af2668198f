import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { networkOf } from './login-attempts.ts'

const MAX_CONNECTIONS = 500
/** From this part of the limit on, idle connections are closed sooner. */
const NEARLY_FULL = 0.8
const SHORT_KEEP_ALIVE_MS = 5000

/** `requests` counts the requests without an answer; undefined before the first request. */
type OpenConnection = { socket: Socket; network: string; requests?: number }

/**
 * Keeps at most `max` connections open. For a new one beyond that it closes an older one, so no client can lock out health checks and
 * scrapes, and a reverse proxy, whose clients all have its address, may use all connections.
 */
export function limitConnections(server: Server, max = MAX_CONNECTIONS): void {
  /** By address and port of the client, which are the same above and below TLS. The one that was used last comes last. */
  const open = new Map<string, OpenConnection>()
  const usualKeepAlive = server.keepAliveTimeout
  const adaptKeepAlive = () => {
    server.keepAliveTimeout = open.size < max * NEARLY_FULL ? usualKeepAlive : SHORT_KEEP_ALIVE_MS
  }
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) {
      const [key, { socket: older }] = whatGivesWay([...open])
      open.delete(key)
      older.destroy()
    }
    const key = keyOf(socket)
    const connection = { socket, network: networkOf(socket.remoteAddress ?? '') }
    open.set(key, connection)
    adaptKeepAlive()
    socket.once('close', () => {
      if (open.get(key) === connection) open.delete(key)
      adaptKeepAlive()
    })
  })
  server.on('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
    const key = keyOf(socket)
    const connection = open.get(key)
    if (connection === undefined) return
    connection.requests = (connection.requests ?? 0) + 1
    response.once('close', () => {
      connection.requests = (connection.requests ?? 1) - 1
      if (open.get(key) !== connection) return
      open.delete(key)
      open.set(key, connection)
    })
  })
}

/**
 * Selects an idle connection of the client with the most connections, or the oldest one if none is idle. A connection that has sent no
 * request yet is not idle: it may be a health check.
 */
function whatGivesWay(open: [key: string, OpenConnection][]): [key: string, OpenConnection] {
  const shares = [...Map.groupBy(open, ([, { network }]) => network).values()]
  const inOrder = shares.toSorted((a, b) => b.length - a.length).flat()
  return inOrder.find(([, { requests }]) => requests === 0) ?? inOrder[0]!
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** The most waiting requests of a connection. Browsers and Prometheus send the next request after a response. */
const MAX_WAITING_PER_CONNECTION = 4

/**
 * Starts one request per iteration of the event loop, so that polls and timers run between requests, however many arrive at
 * once. Health checks do not wait. A connection that pipelines requests (RFC 9112 §9.3.2) is destroyed: thousands of them
 * fit into a packet or two, and would delay all other clients.
 */
export function oneRequestPerIteration(app: FastifyInstance): void {
  let started: Promise<unknown> = Promise.resolve()
  const waiting = new WeakMap<object, number>()
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > MAX_WAITING_PER_CONNECTION) {
      socket.destroy()
      reply.hijack()
      return
    }
    waiting.set(socket, count)
    reply.raw.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    if (request.url.startsWith('/healthz')) return
    started = started.then(() => setImmediate())
    await started
    // The client has disconnected.
    if (reply.raw.destroyed) reply.hijack()
  })
}
