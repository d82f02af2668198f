import { authorize } from './authorize.ts'
import type { Keys } from './authorize.ts'
import { hex } from './draw.ts'
import { drawFault, faults } from './faults/faults.ts'
import { only, takesPart } from './filters.ts'
import { listCalls } from './list-calls.ts'
import { nextOrder } from './list-order.ts'
import type { Order } from './list-order.ts'
import type { Random } from './random.ts'
import { admit } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { reach } from './reached.ts'
import { errorReply, jsonReply, jsonTextReply } from './reply.ts'
import type { Reply } from './reply.ts'
import { header } from './request.ts'
import type { ServiceRequest } from './request.ts'
import { record } from './responses.ts'
import type { RecordedResponse, Recorder } from './responses.ts'
import { showCall } from './show-call.ts'
import type { Switches } from './switches.ts'
import { advance, entryOf } from './world.ts'
import type { World } from './world.ts'

/** The calls service without a network: what `answer` needs to answer one request at a given time. */
export type CallsService = {
  world: World
  keys: Keys
  switches: Switches
  /** The order in which calls were listed last. */
  order: Order
  recorder: Recorder
  /** Absent: any number of requests. */
  rateLimit?: RateLimit
  /** Streams of the seed that nothing else draws from. */
  streams: { faults: Random; behaviours: Random; order: Random; tokens: Random }
}

/**
 * Answers one request with the state of the moment `at` (seconds since 1970), and records the answer. Nothing here
 * looks at a clock or a socket: the network stands behind this, and a simulation can stand there in its place.
 */
export function answer(
  service: CallsService,
  request: ServiceRequest,
  at: number,
): { reply: Reply; response: RecordedResponse } {
  advance(service.world, at, service.switches)
  const shown = at + service.switches.dateOffset
  const reply = dated(service, withFault(service, route(service, request, at), shown), shown)
  return { reply, response: record(service.recorder, at, request, reply) }
}

/** @param at by the Date header's clock, which a Retry-After that is a date goes by as well */
function withFault({ switches, streams, world }: CallsService, reply: Reply, at: number): Reply {
  const name = switches.outage ? 'reset' : drawFault(streams.faults, switches.fault)
  if (name) reach(world.reached, switches.outage ? 'fault.outage' : `fault.${name}`)
  return name ? faults[name]({ reply, at, random: streams.faults }) : reply
}

function dated({ switches, world }: CallsService, reply: Reply, at: number): Reply {
  if (reply.status === 0) return reply
  if (switches.date === 'absent') {
    reach(world.reached, 'date.absent')
    return reply
  }
  if (switches.dateOffset !== 0) reach(world.reached, 'date.offset')
  return { ...reply, headers: { ...reply.headers, date: new Date(Math.floor(at) * 1000).toUTCString() } }
}

function route(service: CallsService, request: ServiceRequest, at: number): Reply {
  const sent = header(request, 'apikey')
  const authorized = authorize(service.keys, sent)
  if ('refusal' in authorized) {
    reach(service.world.reached, 'key.refused')
    return authorized.refusal
  }
  const { rateLimit, switches, world } = service
  const admission = rateLimit && admit(rateLimit, authorized.scope, at, switches.rateLimitHeaders)
  if (admission && !admission.allowed) {
    reach(world.reached, 'limit.reached')
    const headers = { ...admission.headers, 'Retry-After': String(admission.retryAfter) }
    return errorReply(429, 'ERR_TOO_MANY_REQUESTS', 'The limit of requests a minute is reached.', headers)
  }
  const reply = operation(service, request, authorized.scope === 'fullAccess', at)
  return admission ? { ...reply, headers: { ...reply.headers, ...admission.headers } } : reply
}

function operation(service: CallsService, request: ServiceRequest, fullAccess: boolean, at: number): Reply {
  const [collection, id, rest, ...more] = request.path.replace(/^\/v3\//, '').split('/')
  const asked = `${request.method} ${collection}`
  if (asked === 'POST users' && id && rest === 'auth_tokens' && more.length === 0) {
    return authToken(service, decoded(id), at)
  }
  if (asked !== 'GET calls' || rest !== undefined) {
    return errorReply(404, 'ERR_API_NOT_FOUND', `There is no ${request.method} ${request.path}.`)
  }
  if (!fullAccess) return errorReply(403, 'AUTH_ERR_NO_ACCESS', 'The API key lacks the scope for this operation.')
  const onBehalfOf = header(request, 'onbehalfof')
  if (id !== undefined) return getCall(service, decoded(id), onBehalfOf)
  const { switches, streams, world } = service
  service.order = nextOrder(switches.order, service.order, streams.order)
  const visible = onBehalfOf === undefined ? world.listing : only(world.listing, (call) => takesPart(call, onBehalfOf))
  const context = { switches, order: service.order, random: streams.behaviours, reached: world.reached }
  return listCalls(visible, new URLSearchParams(request.query), context)
}

function getCall({ world, switches, streams }: CallsService, sessionId: string, onBehalfOf: string | undefined): Reply {
  const { reached } = world
  const entry = entryOf(world, sessionId)
  if (!entry || (onBehalfOf !== undefined && !takesPart(entry.call, onBehalfOf))) {
    reach(reached, 'get.not_found')
    return errorReply(404, 'ERR_CALL_SESSION_NOT_FOUND', 'The call session does not exist.')
  }
  reach(reached, `get.${switches.getCall}`)
  const call = showCall(entry, { random: streams.behaviours, reached, odd: switches.odd, operation: 'get' })
  return jsonTextReply(200, switches.getCall === 'bare' ? call : `{"data":${call}}`)
}

function authToken(service: CallsService, uid: string, at: number): Reply {
  const authToken = `${uid}_${hex(service.streams.tokens, 40)}`
  return jsonReply(200, { data: { uid, authToken, createdAt: Math.floor(at) } })
}

/** A path segment that is not valid percent-encoding stands for itself. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
