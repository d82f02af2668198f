import { Server as TlsServer } from 'node:https'
import helmet from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'
import { StoreError, type Store } from '../store/store.ts'
import { authenticate, type Credentials } from './authentication.ts'
import { callsRoute } from './calls-route.ts'
import type { EventFeed } from './event-feed.ts'
import { eventsRoute } from './events-route.ts'
import { finishedRoute } from './finished-route.ts'
import { pageFiles } from './page-files.ts'
import { unreadyBecause } from './readiness.ts'
import { silencesRoute } from './silences-route.ts'
import { alertView, isoTime, targetView, type WatchedTarget } from './views.ts'

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
}

/** A certificate, with those that it rests on, and its key (PEM). */
export type Certificate = { cert: string; key: string }

export type Web = {
  port: number
  /** From now on new connections get this one; those that are open stay. */
  renew: (certificate: Certificate) => void
  close: () => Promise<void>
}

/**
 * Serves metrics, health, the API and the page.
 *
 * @throws {Error} with `code` when the address cannot be listened on (EADDRINUSE, EACCES)
 */
export async function startWeb(options: WebOptions): Promise<Web> {
  const { host, port, version, targets, feed, expose, wall } = options
  const app: FastifyInstance = fastify({
    forceCloseConnections: true,
    ...(options.tls && { https: { cert: options.tls.cert, key: options.tls.key } }),
  })
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
  if (options.auth !== undefined) await authenticate(app, options.auth)
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
    const problems = unreadyBecause(targets, options.problem())
    return problems.length === 0 ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', problems })
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
  silencesRoute(app, { ...options, mayChange: options.auth !== undefined })
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
