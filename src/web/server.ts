import { Server as TlsServer } from 'node:https'
import os from 'node:os'
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'
import type { Alert, LiveAlert } from '../alerts/alert.ts'
import type { Suppression } from '../alerts/episode.ts'
import type { IncidentId } from '../alerts/incidents.ts'
import type { KnownNames, Silence } from '../alerts/match.ts'
import type { Rule } from '../alerts/rule.ts'
import { isLoopback } from '../network/loopback.ts'
import type { Store } from '../store/store.ts'
import type { Found, Wanted } from '../ledger/found-calls.ts'
import type { TargetStatus } from '../pipeline/target.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { accepts } from './accepts.ts'
import { authenticate, isExempt, type Credentials, type WebEvent } from './authentication.ts'
import { compressJson } from './compression.ts'
import type { Certificate } from './http-section.ts'
import { hooks, type HooksOptions } from './hooks.ts'
import { limitConnections, oneRequestPerIteration } from './limit-connections.ts'
import { pageFiles } from './page-files.ts'
import { answerError, answerErrors, answerUnreadable, sendProblem } from './problem.ts'
import { readiness } from './readiness.ts'
import { stateIn, type StateReading } from './state.ts'
import type { Failure } from '../views/state/receiver-status.ts'
import type { TestNotify } from '../views/test-notify.ts'
import type { OtherTarget } from '../views/state/overview.ts'
import type { NamedApp } from '../ledger/session-id.ts'
import { mount } from './api/route.ts'
import { ROUTES } from './api/routes.ts'

export type WebOptions = HooksOptions & {
  host: string
  /** 0 takes a free one. */
  port: number
  version: string
  /** Whether commands find the configuration only by `--config`. */
  isNamed?: boolean
  targets: ServedTargets
  /** The targets of the configuration, by whose apps a session is found in either form of its id. */
  configured: () => readonly NamedApp[]
  /** The targets and rules that a silence can match. */
  known: () => KnownNames
  /** The group that an alert is notified with. */
  groupOf: () => (alert: Alert) => IncidentId
  /** What was evaluated before this time (UNIX seconds) is old. */
  freshFrom: () => number
  /** The receivers of notifications, each with its failure while nothing can be delivered to it. */
  receivers: () => readonly { name: string; failure: Failure | undefined }[]
  /** The alerts of these that are not notified now, by their names, and why. */
  suppressed: (
    alerts: readonly LiveAlert[],
    silences: readonly Silence[],
  ) => ReadonlyMap<string, readonly Suppression[]>
  rules: () => readonly Rule[]
  /** The receivers that are notified of the alerts of a rule on any of these targets, by their names. */
  receiversOf: (rule: Rule, targets: readonly string[]) => readonly string[]
  /** Sends a sample to each receiver; `problem`: what was not accepted. */
  testNotify: () => Promise<TestNotify['results']>
  store: Store
  /** Required for every path except the health checks. Read at each request: they may change in between. */
  auth?: (() => Credentials) | undefined
  /** Searches the service; undefined if `http.find` does not allow it. */
  find: () => Search | undefined
  /** Where users reach the page, behind a reverse proxy for example. */
  publicUrl: () => string | undefined
  /** The listener for webhooks of the calls service; default: this one. */
  hooks?: { host: string; port: number }
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

/** What is searched for, and until when. `since` is UNIX seconds. */
type Searched = { target: string; wanted: Wanted; since: number; aborted: AbortSignal }

/** Asks the service. Resolves to why it cannot answer, or to undefined if this daemon does not poll the target. */
export type Search = (searched: Searched) => Promise<Found | { problem: string } | undefined>

/** The targets of the configuration, in its order. */
export type ServedTargets = {
  all: () => readonly string[]
  /** Those that this daemon owns and has loaded. */
  own: () => readonly TargetStatus[]
  /** Those that it owns and has not loaded, with the reason where that has failed. */
  loading: () => readonly { problem: string | undefined }[]
  /** Targets that other daemons own, or that nobody owns, if their overview is known. */
  others: () => readonly OtherTarget[]
  /** False until this daemon has read what other daemons say of their targets. */
  areOthersKnown: () => boolean
}

/** What the routes of the API need. */
export type RouteOptions = WebOptions & { readState: () => Promise<StateReading> }

export type Web = Awaited<ReturnType<typeof startWeb>>

const REQUEST_TIMEOUT_SECONDS = 10
/** How often Node.js checks for requests that time out. */
const TIMEOUT_CHECK_MS = 1000
/** The longest body, of a silence or of a webhook. */
const MAX_BODY_BYTES = 64 * 1024
/** The longest headers together. A browser sends the cookies of all programs below one domain, often more than Node's 16 kB. */
const MAX_HEADER_BYTES = 64 * 1024
/** The longest part of a path, such as the id of a call. */
const MAX_PARAMETER_LENGTH = 5000

/** Headers against foreign scripts, frames, referrers and guessed content types. */
const HELMET: FastifyHelmetOptions = {
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
  // callwatch does not know whether all clients can use HTTPS; a reverse proxy in front of it does.
  strictTransportSecurity: false,
}

/**
 * Serves metrics, health checks, the API and the page.
 *
 * @throws {Error} with `code` where the address is not available (EADDRINUSE, EACCES)
 */
export async function startWeb(options: WebOptions) {
  const { host, port, targets, expose } = options
  const app = newServer(options)
  await app.register(helmet, HELMET)
  compressJson(app)
  answerErrors(app)
  app.addHook('preSerialization', async ({ routeOptions }, _reply, answer) =>
    routeOptions.config.isClean === true ? answer : withoutNoise(answer),
  )
  if (options.auth === undefined && isLoopback(host)) refuseOtherHosts(app, options.publicUrl)
  refuseOtherOrigins(app, options.publicUrl)
  if (options.auth !== undefined) await authenticate(app, { ...options, auth: options.auth })
  const hooksListener = options.hooks === undefined ? undefined : await startHooks(options, options.hooks)
  if (hooksListener === undefined) await app.register(hooks, options)
  await pageFiles(app)

  app.get('/metrics', async (request, reply) => {
    const wanted = accepts(request.headers.accept, 'application/openmetrics-text') ? 'openmetrics' : 'prometheus'
    const { contentType, body } = await expose(wanted)
    return reply.header('content-type', contentType).send(body)
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = readiness(targets, options.problem())
    return ready.status === 'not ready' ? reply.code(503).send(ready) : ready
  })
  const state = stateIn(options)
  const routeOptions: RouteOptions = {
    ...options,
    readState: state.read,
    // Whoever asks after a change of a silence sees it.
    onEvent: (event) => {
      state.forget()
      options.onEvent(event)
    },
  }
  for (const each of ROUTES) mount(app, each, routeOptions)

  await app.listen({ host: listening(host), port })
  const servers = hooksListener === undefined ? [app] : [app, hooksListener]
  return {
    port: portOf(app),
    /** Where webhooks of the calls service are accepted. */
    hooksPort: portOf(hooksListener ?? app),
    /** New connections use this certificate; open connections keep the old one. */
    renew: ({ cert, key }: Certificate): void => {
      for (const { server } of servers) if (server instanceof TlsServer) server.setSecureContext({ cert, key })
    },
    close: async (): Promise<void> => void (await Promise.all(servers.map((one) => one.close()))),
  }
}

/** A server with limits against clients that take too much or too long. */
function newServer({ tls, ...options }: Pick<WebOptions, 'tls' | 'requestTimeout'>): FastifyInstance {
  const requestTimeout = (options.requestTimeout ?? REQUEST_TIMEOUT_SECONDS) * 1000
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node.js swaps the two timeouts where this one is the longer.
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
  }
  const app: FastifyInstance = fastify({
    forceCloseConnections: true,
    requestTimeout,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    clientErrorHandler: answerUnreadable,
    frameworkErrors: answerError,
    // answerErrors() answers instead, with a problem.
    return503OnClosing: false,
    ...(tls === undefined ? { http: limits } : { https: { ...limits, cert: tls.cert, key: tls.key } }),
  })
  limitConnections(app.server)
  oneRequestPerIteration(app)
  return app
}

/** A listener that serves webhooks of the calls service alone. */
async function startHooks(options: WebOptions, { host, port }: { host: string; port: number }) {
  const app = newServer(options)
  answerErrors(app)
  await app.register(hooks, options)
  await app.listen({ host: listening(host), port })
  return app
}

/** All addresses include those of IPv4. On a machine without IPv6, `::` cannot be listened on. */
function listening(host: string): string {
  const hasIpv6 = Object.values(os.networkInterfaces()).some((some) => some?.some(({ family }) => family === 'IPv6'))
  return host === '::' && !hasIpv6 ? '0.0.0.0' : host
}

function portOf({ server }: FastifyInstance): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/**
 * Refuses requests whose `Host` is not this machine. Otherwise a website whose name resolves to 127.0.0.1 (DNS rebinding) could read
 * the API through a browser of this machine. A browser always sends the name in `Host`; a health check may send none.
 */
function refuseOtherHosts(app: FastifyInstance, publicUrl: () => string | undefined): void {
  app.addHook('onRequest', async (request, reply) => {
    const { host } = request.headers
    const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') ?? ''
    if (host === undefined || isExempt(request) || isLoopback(name) || isLoopback(host)) return undefined
    if (name === URL.parse(publicUrl() ?? '')?.hostname) return undefined
    return sendProblem(
      reply,
      403,
      'without `http.auth`, only requests for localhost, a loopback address and the host of `http.public_url` are answered',
    )
  })
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Refuses changes requested by pages of other origins: browsers send the password with such requests too. They also
 * name the origin of the page in `Origin` (RFC 6454); other programs send no such header. The page is at the request's
 * `Host`, or at `http.public_url` if a proxy replaces the `Host`.
 */
function refuseOtherOrigins(app: FastifyInstance, publicUrl: () => string | undefined): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    if (SAFE_METHODS.includes(request.method) || origin === undefined) return undefined
    const pages = [`${URL.parse(origin)?.protocol}//${host}`, publicUrl() ?? '']
    if (pages.some((page) => URL.parse(page)?.origin === origin)) return undefined
    return sendProblem(
      reply,
      403,
      'a page of another origin cannot change anything here. If this is the page of callwatch behind a reverse proxy, set `http.public_url` to the address in the browser',
    )
  })
}
