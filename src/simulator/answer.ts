import { admit, authorize } from './admission.ts'
import { drawFault, faults } from './faults.ts'
import { errorReply, header, jsonReply, type Reply, type ServiceRequest } from './http.ts'
import { reach } from './ledger.ts'
import { listCalls } from './list-calls.ts'
import { nextOrder } from './list-order.ts'
import { callsOfUser, entryBefore, indexedOf, listingBefore, takesPart } from './list-views.ts'
import { showCall } from './oddities.ts'
import { chance, hex } from './random.ts'
import { record, type RecordedResponse } from './responses.ts'
import type { CallsService } from './service.ts'
import { advance, entryOf } from './world.ts'

/**
 * Answers one request with the state of the moment `at` (seconds since 1970), and records the answer. It
 * reads no clock and no socket: a server or a simulation calls it.
 */
export function answer(
  service: CallsService,
  request: ServiceRequest,
  at: number,
): { reply: Reply; response: RecordedResponse } {
  advance(service.world, at, service.switches)
  const { dateOffset, wrongDates, wrongDateOffset, oddDates } = service.switches
  const isWrong = service.dates < wrongDates || (oddDates > 0 && chance(service.streams.dates, oddDates))
  if (isWrong) reach(service.world.reached, 'date.wrong')
  const shown = at + dateOffset + (isWrong ? wrongDateOffset : 0)
  const reply = dated(service, withFault(service, route(service, request, at, shown), shown), shown)
  return { reply, response: record(service.recorder, at, request, reply) }
}

/** @param at the time that the Date header shows */
function withFault({ switches, streams, world }: CallsService, reply: Reply, at: number): Reply {
  const name = switches.outage ? 'reset' : drawFault(streams.faults, switches.fault)
  if (name) reach(world.reached, switches.outage ? 'fault.outage' : `fault.${name}`)
  return name ? faults[name]({ reply, at, random: streams.faults }) : reply
}

function dated(service: CallsService, reply: Reply, at: number): Reply {
  const { switches, world } = service
  if (reply.status === 0 || 'date' in reply.headers) return reply
  if (switches.date === 'absent' || (switches.date === 'sometimes' && chance(service.streams.dates, 1 / 3))) {
    reach(world.reached, 'date.absent')
    return reply
  }
  service.dates++
  if (switches.dateOffset !== 0) reach(world.reached, 'date.offset')
  return { ...reply, headers: { ...reply.headers, date: new Date(Math.floor(at) * 1000).toUTCString() } }
}

function route(service: CallsService, request: ServiceRequest, at: number, shown: number): Reply {
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
  const reply = operation(service, request, authorized.scope === 'fullAccess', { at, shown })
  return admission ? { ...reply, headers: { ...reply.headers, ...admission.headers } } : reply
}

function operation(
  service: CallsService,
  request: ServiceRequest,
  fullAccess: boolean,
  { at, shown }: { at: number; shown: number },
): Reply {
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
  if (id !== undefined) return getCall(service, decoded(id), onBehalfOf, at)
  return cached(service, `${request.query} ${onBehalfOf ?? ''}`, at, () =>
    dated(service, list(service, request.query, onBehalfOf, at), shown),
  )
}

/** The page that was answered recently, with the Date that it had, or a new one. */
function cached({ switches, cache, world }: CallsService, key: string, at: number, make: () => Reply): Reply {
  const { cacheSeconds, age } = switches
  if (cacheSeconds === 0) return make()
  const kept = cache.get(key)
  if (kept && at - kept.at < cacheSeconds) {
    reach(world.reached, 'list.cached')
    const headers = age === 'given' ? { age: String(Math.floor(at - kept.at)) } : {}
    return { ...kept.reply, headers: { ...kept.reply.headers, ...headers } }
  }
  const reply = make()
  if (reply.status === 200) cache.set(key, { at, reply })
  return reply
}

function list(service: CallsService, query: string, onBehalfOf: string | undefined, at: number): Reply {
  const { switches, streams, world } = service
  service.order = nextOrder(switches.order, service.order, streams.order)
  let { listing } = world
  if (switches.replicaLag > 0 && chance(streams.replica, 0.5)) {
    reach(world.reached, 'list.lagging')
    listing = listingBefore(listing, (at - switches.replicaLag) * 1000)
  }
  if (switches.indexed < 1) {
    reach(world.reached, 'list.indexed_in_part')
    listing = indexedOf(listing, switches.indexed)
  }
  const visible = onBehalfOf === undefined ? listing : callsOfUser(listing, onBehalfOf)
  const timeShift = drawShift(service)
  const context = { switches, at, timeShift, order: service.order, random: streams.behaviours, reached: world.reached }
  return listCalls(visible, new URLSearchParams(query), context)
}

/** How far the times of the calls in an answer are ahead (seconds). */
function drawShift({ switches: { shiftedAnswers, timeShift }, streams, world }: CallsService): number {
  if (shiftedAnswers === 0 || !chance(streams.shifts, shiftedAnswers)) return 0
  reach(world.reached, 'times.shifted')
  return timeShift
}

function getCall(service: CallsService, sessionId: string, onBehalfOf: string | undefined, at: number): Reply {
  const { world, switches, streams } = service
  const { reached } = world
  const known = entryOf(world, sessionId)
  const entry = known && switches.getCallLag > 0 ? entryBefore(known, (at - switches.getCallLag) * 1000) : known
  if (entry !== known) reach(reached, 'get.lagging')
  if (!entry || (onBehalfOf !== undefined && !takesPart(entry.call, onBehalfOf))) {
    reach(reached, 'get.not_found')
    return errorReply(404, 'ERR_CALL_SESSION_NOT_FOUND', 'The call session does not exist.')
  }
  reach(reached, `get.${switches.getCall}`)
  const call = showCall(entry, {
    random: streams.behaviours,
    reached,
    odd: switches.odd,
    timeShift: drawShift(service),
    operation: 'get',
  })
  return jsonReply(200, switches.getCall === 'bare' ? call : `{"data":${call}}`)
}

function authToken(service: CallsService, uid: string, at: number): Reply {
  const authToken = `${uid}_${hex(service.streams.tokens, 40)}`
  return jsonReply(200, JSON.stringify({ data: { uid, authToken, createdAt: Math.floor(at) } }))
}

/** A path segment without percent-encoding; as it is where that is not valid. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
