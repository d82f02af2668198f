import { admit, authorize } from './admission.ts'
import { drawFault, faultNames, faults, type FaultName } from './faults.ts'
import { errorReply, header, jsonReply, type Reply, type ServiceRequest } from './http.ts'
import { listCalls, wireText } from './list-calls.ts'
import { hex } from '../random.ts'
import { record, type RecordedResponse } from './responses.ts'
import type { CallsService } from './service.ts'
import type { Switches } from '../switches.ts'
import { stats } from './stats.ts'
import { advance } from '../calls/world.ts'

/** A request to an operation: `id` is that of a call or a user, decoded; `at` is UNIX seconds. */
export type Asked = { id: string; query: URLSearchParams; request: ServiceRequest; at: number }

/** The operations of the service. To add one, add an entry here and a line in `operationOf`. */
export const operations = { listCalls, getCall, createToken, stats }

/**
 * Answers one request with the state at the time `at` (UNIX seconds), and records the answer. It reads no clock and no
 * socket, so a server or a simulation can call it.
 */
export function answer(
  service: CallsService,
  request: ServiceRequest,
  at: number,
): { reply: Reply; response: RecordedResponse } {
  advance(service.world, at, service.switches)
  const reply = (service.world.extension.respond ?? respond)(service, request, at)
  return { reply, response: record(service.recorder, at, request, reply) }
}

export function respond(service: CallsService, request: ServiceRequest, at: number): Reply {
  return dated(withFault(service, route(service, request, at), faultOf(service), at), at)
}

/** The fault that a request meets, if any. */
export function faultOf({ switches, streams }: CallsService): FaultName | undefined {
  return switches.outage ? 'reset' : drawFault(streams.faults, faultNames, switches.fault)
}

/** @param at the time in the Date header */
export function withFault({ streams }: CallsService, reply: Reply, name: FaultName | undefined, at: number): Reply {
  return name === undefined ? reply : faults[name]({ reply, at, random: streams.faults })
}

/** Adds a Date header to an answer. */
export function dated(reply: Reply, at: number): Reply {
  if (reply.status === 0) return reply
  return { ...reply, headers: { ...reply.headers, date: new Date(Math.floor(at) * 1000).toUTCString() } }
}

/** The answer without faults and without a Date header. */
export function route(service: CallsService, request: ServiceRequest, at: number): Reply {
  const scope = authorize(service.keys, header(request, 'apikey'))
  if (typeof scope !== 'string') return scope
  const { rateLimit, switches } = service
  const admission = rateLimit && admit(rateLimit, scope, at, switches.rateLimitHeaders)
  if (admission && !admission.allowed) {
    const headers = { ...admission.headers, 'Retry-After': String(admission.retryAfter) }
    return errorReply(429, 'ERR_TOO_MANY_REQUESTS', 'The limit of requests a minute is reached.', headers)
  }
  const reply = operate(service, request, scope === 'fullAccess', at)
  return { ...reply, headers: { ...reply.headers, ...admission?.headers } }
}

/** Those that a segment of a path may contain (RFC 3986 §3.3: sub-delims, colon and at sign). */
const ALLOWED = /%(?:2[146-9A-C]|3[ABD]|40)/i

/** The id in a path. */
function idIn(segment: string, { pathIds }: Switches): string {
  return pathIds === 'raw' && ALLOWED.test(segment) ? segment : decodeURIComponent(segment)
}

function operate(service: CallsService, request: ServiceRequest, fullAccess: boolean, at: number): Reply {
  const [, , collection, id, ...rest] = request.path.split('/')
  const name = operationOf(`${request.method} ${collection}`, id, rest)
  if (!name) return errorReply(404, 'ERR_API_NOT_FOUND', `There is no ${request.method} ${request.path}.`)
  if (name !== 'createToken' && !fullAccess) {
    return errorReply(403, 'AUTH_ERR_NO_ACCESS', 'The API key lacks the scope for this operation.')
  }
  const operation = service.world.extension.operations?.[name] ?? operations[name]
  return operation(service, {
    id: idIn(id ?? '', service.switches),
    query: new URLSearchParams(request.query),
    request,
    at,
  })
}

function operationOf(asked: string, id: string | undefined, rest: string[]): keyof typeof operations | undefined {
  if (asked === 'POST users' && id && rest.join('/') === 'auth_tokens') return 'createToken'
  if (asked === 'GET stats' && id === undefined) return 'stats'
  if (asked !== 'GET calls' || rest.length > 0) return undefined
  return id === undefined ? 'listCalls' : 'getCall'
}

function getCall({ world, switches }: CallsService, { id }: Asked): Reply {
  const calls = world.entries.get(id)?.map((entry) => wireText(entry, switches))
  return calls ? callReply(calls, switches) : callNotFound
}

/**
 * All calls of a session in a list, the newest first; without a list the newest alone.
 *
 * @param calls as JSON, at least one, the oldest first
 */
export function callReply(calls: readonly string[], { getCall: form }: Pick<Switches, 'getCall'>): Reply {
  const rows = form === 'list' || form === 'bare_list' ? `[${calls.toReversed().join(',')}]` : calls.at(-1)!
  return jsonReply(200, form === 'object' || form === 'list' ? `{"data":${rows}}` : rows)
}

export const callNotFound = errorReply(404, 'ERR_CALL_SESSION_NOT_FOUND', 'The call session does not exist.')

function createToken({ streams }: CallsService, { id: uid, at }: Asked): Reply {
  const authToken = `${uid}_${hex(streams.tokens, 40)}`
  return jsonReply(200, JSON.stringify({ data: { uid, authToken, createdAt: Math.floor(at) } }))
}
