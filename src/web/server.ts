import { Server as TlsServer } from 'node:https'
import helmet from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'
import { StoreError, type Store } from '../store/store.ts'
import { authenticate, type Credentials } from './authentication.ts'
import { callsRoute } from './calls-route.ts'
import type { EventFeed } from './event-feed.ts'
import { eventsRoute } from './events-route.ts'
import { finishedRoute } from './finished-route.ts'
import { oneATurn } from './one-a-turn.ts'
import { pageFiles } from './page-files.ts'
import { readiness } from './readiness.ts'
import { onlySameOrigin } from './same-origin.ts'
import { silencesRoute } from './silences-route.ts'
import { alertView, isoTime, targetView, type WatchedTarget } from './views.ts'
import type { WebEvent } from './web-event.ts'

export type WebOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  version: string
  targets: readonly WatchedTarget[]
  store: Pick<Store, 'finishedCalls' | 'silences' | 'addSilence' | 'endSilence'>
  /** Asked for by everything but the health checks. */
  auth?: Credentials
  /** HTTPS in place of HTTP. */
  tls?: Certificate
  feed: EventFeed
  /** Why this daemon can watch nothing, in a sentence. */
  problem: () => string | undefined
  expose: (format: 'prometheus' | 'openmetrics') => Promise<{ contentType: string; body: string }>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Told what is to be logged and counted. */
  note: (event: WebEvent) => void
  /** A request that has not arrived whole by then (seconds), its body included, is cut off. */
  requestTimeout?: number
}

/** A certificate, with those that it rests on, and its key (PEM). */
export type Certificate = { cert: string; key: string }

export type Web = {
  port: number
  /** From now on new connections get this one; those that are open stay. */
  renew: (certificate: Certificate) => void
  close: () => Promise<void>
}

/** Seconds. */
const REQUEST_TIMEOUT = 10
/** How often it is looked for requests that take too long to arrive (milliseconds). */
const CHECKING_MS = 1000
/** The longest body (bytes): the only ones are silences. */
const MOST_BODY = 64 * 1024
const MOST_CONNECTIONS = 500

/**
 * Serves metrics, health, the API and the page.
 *
 * @throws {Error} with `code` when the address cannot be listened on (EADDRINUSE, EACCES)
 */
export async function startWeb(options: WebOptions): Promise<Web> {
  const { host, port, version, targets, feed, expose, wall } = options
  const requestTimeout = (options.requestTimeout ?? REQUEST_TIMEOUT) * 1000
  const arriving = {
    // Not longer than the whole request may take: Node.js would take the one for the other.
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.min(CHECKING_MS, requestTimeout),
  }
  const app: FastifyInstance = fastify({
    forceCloseConnections: true,
    requestTimeout,
    bodyLimit: MOST_BODY,
    ...(options.tls === undefined
      ? { http: arriving }
      : { https: { ...arriving, cert: options.tls.cert, key: options.tls.key } }),
  })
  app.server.maxConnections = MOST_CONNECTIONS
  oneATurn(app)
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    // Whether this is reached by HTTPS is for whoever puts it there to say.
    strictTransportSecurity: false,
  })
  onlySameOrigin(app)
  if (options.auth !== undefined) await authenticate(app, { ...options, credentials: options.auth })
  await pageFiles(app)

  app.setErrorHandler((error, _request, reply) =>
    error instanceof StoreError ? reply.code(503).send({ error: error.message }) : reply.send(error),
  )
  app.get('/metrics', async (request, reply) => {
    const wanted = request.headers.accept?.includes('application/openmetrics-text') ? 'openmetrics' : 'prometheus'
    const { contentType, body } = await expose(wanted)
    return reply.header('content-type', contentType).send(body)
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = readiness(targets, options.problem())
    return ready.status === 'not ready' ? reply.code(503).send(ready) : ready
  })
  app.get('/api/v1/status', async () => {
    const problem = options.problem()
    return { version, now: isoTime(wall()), ...(problem && { problem }), targets: targets.map(targetView) }
  })
  app.get('/api/v1/alerts', async () => ({
    alerts: targets.flatMap(({ target, alerts }) =>
      [...alerts.values()].map((instance) => alertView(target, instance)),
    ),
  }))
  callsRoute(app, options)
  finishedRoute(app, targets)
  silencesRoute(app, { ...options, changedBy: options.auth })
  eventsRoute(app, feed)

  await app.listen({ host, port })
  const address = app.server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    renew: ({ cert, key }) => {
      if (app.server instanceof TlsServer) app.server.setSecureContext({ cert, key })
    },
    close: () => app.close(),
  }
}
