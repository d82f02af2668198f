import { Server as TlsServer } from 'node:https'
import helmet from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'
import type { KnownNames } from '../alerts/match.ts'
import { StoreError, type Store } from '../store/store.ts'
import type { ShownTarget } from '../target/target.ts'
import { authenticate, type Credentials, type WebEvent } from './authentication.ts'
import { callsRoute } from './calls-route.ts'
import { eventsRoute } from './events-route.ts'
import { finishedPerMinuteRoute } from './finished-per-minute.ts'
import type { Certificate } from './http-section.ts'
import { oneRequestPerIteration } from './one-request-per-iteration.ts'
import { pageFiles } from './page-files.ts'
import { BadRequest } from './query.ts'
import { readiness } from './readiness.ts'
import { silencesRoute } from './silences-route.ts'
import { otherTargetJson, type OtherTarget } from './overview.ts'
import { targetJson } from './target-view.ts'
import { isoTime } from '../clock/iso-time.ts'
import { alertView } from './views.ts'
import { webhooksRoute } from './webhooks-route.ts'

export type WebOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  version: string
  targets: ServedTargets
  /** The targets and rules that a silence can match. */
  known: () => KnownNames
  store: Pick<
    Store,
    | 'finishedCalls'
    | 'openCalls'
    | 'finishedPerMinute'
    | 'silences'
    | 'addSilence'
    | 'endSilence'
    | 'events'
    | 'latestEvents'
    | 'webhooks'
  >
  /** Required for every path except the health checks. */
  auth?: Credentials
  /** Serves HTTPS instead of HTTP. */
  tls?: Certificate
  /** Why this daemon can own no target, in a sentence. */
  problem: () => string | undefined
  expose: (format: 'prometheus' | 'openmetrics') => Promise<{ contentType: string; body: string }>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Logs and counts an event. */
  onEvent: (event: WebEvent) => void
  /** A request that has not arrived completely within these seconds, its body included, is aborted. */
  requestTimeout?: number
}

/** The targets of the configuration, in its order. */
export type ServedTargets = {
  all: () => readonly string[]
  /** Those that this daemon owns and has loaded. */
  own: () => readonly ShownTarget[]
  /** Those that it owns and has not loaded, with the reason where that has failed. */
  loading: () => readonly { problem: string | undefined }[]
  /** Those that other daemons own, or none, as far as an overview is known. */
  others: () => readonly OtherTarget[]
}

export type Web = {
  port: number
  /** New connections use this certificate; open connections keep the old one. */
  renew: (certificate: Certificate) => void
  close: () => Promise<void>
}

const REQUEST_TIMEOUT_SECONDS = 10
/** How often Node.js checks for requests that time out. */
const TIMEOUT_CHECK_MS = 1000
/** The longest body: only silences have one. */
const MAX_BODY_BYTES = 64 * 1024
const MAX_CONNECTIONS = 500

/**
 * Serves metrics, health checks, the API and the page.
 *
 * @throws {Error} with `code` where the address is not available (EADDRINUSE, EACCES)
 */
export async function startWeb(options: WebOptions): Promise<Web> {
  const { host, port, version, targets, expose, wall } = options
  const requestTimeout = (options.requestTimeout ?? REQUEST_TIMEOUT_SECONDS) * 1000
  const timeouts = {
    // Node.js swaps the two timeouts where this one is the longer.
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
  }
  const app: FastifyInstance = fastify({
    forceCloseConnections: true,
    requestTimeout,
    bodyLimit: MAX_BODY_BYTES,
    ...(options.tls === undefined
      ? { http: timeouts }
      : { https: { ...timeouts, cert: options.tls.cert, key: options.tls.key } }),
  })
  app.server.maxConnections = MAX_CONNECTIONS
  oneRequestPerIteration(app)
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
    // Only a reverse proxy in front of callwatch knows whether all clients can use HTTPS.
    strictTransportSecurity: false,
  })
  refuseOtherOrigins(app)
  if (options.auth !== undefined) await authenticate(app, { ...options, credentials: options.auth })
  await pageFiles(app)

  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof BadRequest) return reply.code(400).send({ error: error.message })
    if (error instanceof StoreError) return reply.code(503).send({ error: error.message })
    return reply.send(error)
  })
  app.get('/metrics', async (request, reply) => {
    const wanted = request.headers.accept?.includes('application/openmetrics-text') ? 'openmetrics' : 'prometheus'
    const { contentType, body } = await expose(wanted)
    return reply.header('content-type', contentType).send(body)
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = readiness(targets.own(), options.problem(), targets.loading())
    return ready.status === 'not ready' ? reply.code(503).send(ready) : ready
  })
  app.get('/api/v1/status', async (_request, reply) => {
    const problem = options.problem()
    const head = JSON.stringify({ version, now: isoTime(wall()), ...(problem && { problem }) }).slice(0, -1)
    const views = new Map(targets.own().map((target) => [target.name, targetJson(target)]))
    for (const other of targets.others()) views.set(other.name, otherTargetJson(other, wall()))
    const ordered = targets.all().flatMap((name) => views.get(name) ?? [])
    return reply.type('application/json; charset=utf-8').send(`${head},"targets":[${ordered.join(',')}]}`)
  })
  app.get('/api/v1/alerts', async () => {
    const own = targets.own().map(({ name, alerts }) => ({ name, alerts: [...alerts.values()] }))
    return {
      alerts: [...own, ...targets.others()].flatMap(({ name, alerts }) =>
        alerts.map((instance) => alertView(name, instance)),
      ),
    }
  })
  callsRoute(app, options)
  finishedPerMinuteRoute(app, options)
  silencesRoute(app, { ...options, changedBy: options.auth })
  eventsRoute(app, options.store)
  webhooksRoute(app, options)

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

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Refuses changes requested by pages of other origins: browsers send the password with such requests too. They also
 * name the origin of the page in `Origin` (RFC 6454); other programs send no such header.
 */
function refuseOtherOrigins(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    const isSafe = SAFE_METHODS.includes(request.method)
    if (isSafe || origin === undefined || URL.parse(origin)?.host === host) return undefined
    return reply.code(403).send({
      error:
        'a page of another origin cannot change anything here; a reverse proxy must forward the `Host` header unchanged',
    })
  })
}
