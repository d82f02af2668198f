import { authorize } from './authorize.ts'
import type { Keys } from './authorize.ts'
import type { BehaviourContext } from './behaviours/behaviour.ts'
import { behaviours } from './behaviours/behaviours.ts'
import { hex } from './draw.ts'
import { drawFault, faults } from './faults/faults.ts'
import { takesPart } from './filters.ts'
import { listCalls } from './list-calls.ts'
import type { Random } from './random.ts'
import { admit } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { errorReply, jsonReply } from './reply.ts'
import type { Reply } from './reply.ts'
import { header } from './request.ts'
import type { ServiceRequest } from './request.ts'
import { record } from './responses.ts'
import type { RecordedResponse, Recorder } from './responses.ts'
import type { Switches } from './switches.ts'
import { advance, callOf } from './world.ts'
import type { World } from './world.ts'

/** The calls service without a network: what `answer` needs to answer one request at a given time. */
export type CallsService = {
  world: World
  keys: Keys
  switches: Switches
  recorder: Recorder
  /** Absent: any number of requests. */
  rateLimit?: RateLimit
  /** Streams of the seed that nothing else draws from. */
  streams: { faults: Random; behaviours: Random; tokens: Random }
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
  advance(service.world, at, service.switches.arrivals)
  const reply = dated(withFault(service, route(service, request, at), at), at)
  return { reply, response: record(service.recorder, at, request, reply) }
}

function withFault({ switches, streams }: CallsService, reply: Reply, at: number): Reply {
  const name = switches.outage ? 'reset' : drawFault(streams.faults, switches.fault)
  return name ? faults[name]({ reply, at, random: streams.faults }) : reply
}

function dated(reply: Reply, at: number): Reply {
  if (reply.status === 0) return reply
  return { ...reply, headers: { ...reply.headers, date: new Date(Math.floor(at) * 1000).toUTCString() } }
}

function route(service: CallsService, request: ServiceRequest, at: number): Reply {
  const sent = header(request, 'apikey')
  const authorized = authorize(service.keys, sent)
  if ('refusal' in authorized) return authorized.refusal
  const admission = service.rateLimit && admit(service.rateLimit, authorized.scope, at)
  if (admission && !admission.allowed) {
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
  const context: BehaviourContext = { switches: service.switches, random: service.streams.behaviours }
  const onBehalfOf = header(request, 'onbehalfof')
  if (id !== undefined) return getCall(service, decoded(id), onBehalfOf, context)
  const { calls } = service.world
  const visible = onBehalfOf === undefined ? calls : calls.filter((call) => takesPart(call, onBehalfOf))
  return listCalls(visible, new URLSearchParams(request.query), context)
}

function getCall(
  service: CallsService,
  sessionId: string,
  onBehalfOf: string | undefined,
  context: BehaviourContext,
): Reply {
  const call = callOf(service.world, sessionId)
  if (!call || (onBehalfOf !== undefined && !takesPart(call, onBehalfOf))) {
    return errorReply(404, 'ERR_CALL_SESSION_NOT_FOUND', 'The call session does not exist.')
  }
  let body: unknown = { data: call }
  for (const behaviour of behaviours) if (behaviour.single) body = behaviour.single(body, call, context)
  return jsonReply(200, body)
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
