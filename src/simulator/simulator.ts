import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fastify, type FastifyInstance } from 'fastify'
import { answer } from './answers/answer.ts'
import { addBurst, type Burst } from './calls/arrivals.ts'
import type { LedgerEvent } from './calls/ledger.ts'
import type { RecordedResponse } from './answers/responses.ts'
import { patchSwitches, type Switches } from './switches.ts'
import { createService, setSwitches, type CallsService, type ServiceOptions } from './answers/service.ts'
import { newWebhooks, sendWebhooks } from './answers/webhooks.ts'
import { advance } from './calls/world.ts'
import type { Reply } from './answers/http.ts'

type ServerOptions = {
  /** 0 picks a free port. */
  port?: number
  /** Returns UNIX seconds with fractions; default: the host's clock. */
  clock?: () => number
}

export type SimulatorOptions = ServiceOptions & ServerOptions

export type Simulator = ReturnType<typeof simulatorOf>

/**
 * Starts a calls service on 127.0.0.1, with a world of its own.
 *
 * @throws Error if the port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  return serve(createService(options, (options.clock ?? hostClock)()), options)
}

/** Starts serving an existing service. */
export async function serve(service: CallsService, options: ServerOptions): Promise<Simulator> {
  const [simulator] = await serveAll([{ service, prefix: '' }], options)
  return simulator!
}

/**
 * Starts several calls services on one port of 127.0.0.1, each with calls of its own: that of `app-1` below `/app-1/v3`. They
 * record no responses.
 *
 * @throws Error if the port is taken
 */
export async function startSimulators(names: readonly string[], options: SimulatorOptions): Promise<Simulator[]> {
  const { seed = 1, clock = hostClock } = options
  const services = names.map((name) => ({
    service: createService({ ...options, mostRecordedResponses: 0, seed: `${seed} ${name}` }, clock()),
    prefix: `/${name}`,
  }))
  return serveAll(services, options)
}

type Prefixed = { service: CallsService; prefix: string }

async function serveAll(
  services: readonly Prefixed[],
  { port: asked = 0, clock = hostClock }: ServerOptions,
): Promise<Simulator[]> {
  const app = fastify({ forceCloseConnections: true })
  // Every body is JSON, whatever its content type: curl sends another one by default.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, app.getDefaultJsonParser('ignore', 'ignore'))
  const served = services.map(({ service, prefix }) => {
    const now = (): number => {
      const at = clock()
      advance(service.world, at, service.switches)
      return at
    }
    app.register((routes) => addRoutes(routes, { service, prefix }, now), { prefix })
    return { service, prefix, now }
  })
  app.get('/_simulator/config', ({ headers: { host } }) => configText(`http://${host}`, services))
  const address = await app.listen({ host: '127.0.0.1', port: asked })
  return served.map((one) => simulatorOf(one, app, address))
}

/** A configuration with a target for each service. */
function configText(address: string, services: readonly Prefixed[]): string {
  const targets = services.map(({ service, prefix }) => {
    const name = prefix.slice(1) || 'simulated'
    return `  - { name: ${name}, base_url: '${address}${prefix}/v3', api_key: ${JSON.stringify(service.keys.fullAccess)} }`
  })
  return ['targets:', ...targets, 'store: { path: data/simulated.db }', ''].join('\n')
}

function simulatorOf(
  { service, prefix, now }: Prefixed & { now: () => number },
  app: FastifyInstance,
  address: string,
) {
  let webhooks = newWebhooks(service)
  let stopSending: (() => void) | undefined
  return {
    /** The calls service's base address, including `/v3`. */
    url: `${address}${prefix}/v3`,
    port: Number(new URL(address).port),
    /** The accepted keys. A change applies to later requests. */
    keys: service.keys,
    /** Everything that has happened until now. */
    ledger: (): readonly LedgerEvent[] => {
      now()
      return service.world.ledger
    },
    /** The recorded answers, oldest first. */
    responses: (): readonly RecordedResponse[] => service.recorder.responses,
    /** Adds calls that begin evenly over `seconds` from now on. By default they are rejected or unanswered. */
    burst: (burst: Omit<Burst, 'outcomes'> & Partial<Burst>): void =>
      addBurst(service.world, now(), { outcomes: { rejected: 1, unanswered: 1 }, ...burst }),
    switches: () => service.switches,
    /** @throws RangeError that names the unknown switch, or the switch with an invalid value */
    setSwitches: (patch: Partial<Switches>): void => {
      now()
      setSwitches(service, patch)
    },
    /** Sends the webhooks of what happens from now on there, with its user and password. */
    sendWebhooks: (to: URL): void => {
      now()
      stopSending?.()
      webhooks = newWebhooks(service)
      stopSending = sendWebhooks(webhooks, to, now)
    },
    /** What was sent as webhooks until now. */
    webhooks: () => webhooks.sent,
    /** Also closes open connections. */
    close: (): Promise<void> => {
      stopSending?.()
      return app.close()
    },
  }
}

const hostClock = (): number => Date.now() / 1000

async function addRoutes(app: FastifyInstance, { service, prefix }: Prefixed, now: () => number): Promise<void> {
  // The simulator's own endpoints, which are not part of the calls service.
  app.get('/_simulator/ledger', () => ({ now: now(), events: service.world.ledger }))
  app.get('/_simulator/responses', () => ({ responses: service.recorder.responses }))
  app.get('/_simulator/switches', () => service.switches)
  app.post('/_simulator/switches', (request, reply) => {
    const result = patchSwitches(service.switchTable, service.switches, request.body)
    if ('problem' in result) return reply.code(400).send({ error: { code: 'ERR_SWITCHES', message: result.problem } })
    now()
    return (service.switches = result.switches)
  })
  app.all('/v3/*', (request, reply) => {
    const [path, query = ''] = request.raw.url!.split(/\?(.*)/s)
    const asked = { method: request.method, path: path!.slice(prefix.length), query, headers: request.headers }
    const answered = answer(service, asked, now())
    reply.hijack()
    const send = () => deliver(answered.reply, reply.raw, answered.response)
    if (service.switches.answerSeconds === 0) send()
    else setTimeout(send, service.switches.answerSeconds * 1000).unref()
  })
}

const DRIP_BYTES = 8
const DRIP_MS = 100

/** Writes an answer to the connection according to its `delivery`. Records in `response` whether all of it was sent. */
function deliver(reply: Reply, raw: ServerResponse, response: RecordedResponse): void {
  raw.once('close', () => {
    response.delivered = raw.writableFinished
  })
  if (reply.delivery === 'reset') raw.socket?.resetAndDestroy()
  if (reply.delivery === 'reset' || reply.delivery === 'hang') return
  // Otherwise the server would add a Date of its own.
  raw.sendDate = false
  const body = Buffer.from(reply.body)
  raw.writeHead(reply.status, { ...reply.headers, 'content-length': body.length })
  if (reply.delivery === 'whole') raw.end(body)
  else if (reply.delivery === 'drip') void drip(raw, body)
  else raw.write(body.subarray(0, body.length / 2), () => raw.destroy())
}

async function drip(raw: ServerResponse, body: Buffer): Promise<void> {
  for (let sent = 0; sent < body.length; sent += DRIP_BYTES) {
    await pause(DRIP_MS, undefined, { ref: false })
    if (raw.destroyed) return
    raw.write(body.subarray(sent, sent + DRIP_BYTES))
  }
  raw.end()
}
