import { dated as withDate, faultOf, route, withFault } from '../../../../src/simulator/answers/answer.ts'
import type { Reply, ServiceRequest } from '../../../../src/simulator/answers/http.ts'
import { chance } from '../../../../src/simulator/random.ts'
import type { WorldService } from '../start-world.ts'
import { reach, type WorldState } from '../state.ts'

/** The answer to a request, by a clock that may be wrong. */
export function respond(service: WorldService, request: ServiceRequest, at: number): Reply {
  const { switches, state } = service
  const { dateOffset, wrongDates, wrongDateOffset, oddDates } = switches
  const isWrong = state.dates < wrongDates || (oddDates > 0 && chance(state.streams.dates, oddDates))
  if (isWrong) reach(state, 'date.wrong')
  state.shownAt = at + dateOffset + (isWrong ? wrongDateOffset : 0)
  const fault = faultOf(service)
  if (fault) reach(state, switches.outage ? 'fault.outage' : `fault.${fault}`)
  // Without a Date nothing shows by which clock a Retry-After is.
  const faultAt = switches.date === 'given' ? state.shownAt : at + dateOffset
  state.shown = []
  const reply = route(service, request, at)
  if (!fault) noteSeen(state, at * 1000)
  return dated(service, withFault(service, reply, fault, faultAt))
}

function noteSeen({ seen, shown }: WorldState, ms: number): void {
  for (const call of shown) seen.set(call, { firstMs: seen.get(call)?.firstMs ?? ms, lastMs: ms })
}

/** The answer with the Date that it shows, unless it has one or is to have none. */
export function dated({ switches, state }: WorldService, reply: Reply): Reply {
  if (reply.status === 0 || 'date' in reply.headers) return reply
  if (switches.date === 'absent' || (switches.date === 'sometimes' && chance(state.streams.dates, 1 / 3))) {
    reach(state, 'date.absent')
    return reply
  }
  state.dates++
  if (switches.dateOffset !== 0) reach(state, 'date.offset')
  return withDate(reply, state.shownAt)
}

/** The page that was answered recently, with the Date that it had, or a new one. */
export function cached(service: WorldService, key: string, at: number, make: () => Reply): Reply {
  const { switches, state } = service
  if (switches.cacheSeconds === 0) return make()
  const kept = state.cache.get(key)
  if (kept && at - kept.at < switches.cacheSeconds) {
    reach(state, 'list.cached')
    const headers = switches.age === 'given' ? { age: String(Math.floor(at - kept.at)) } : {}
    return { ...kept.reply, headers: { ...kept.reply.headers, ...headers } }
  }
  const reply = dated(service, make())
  if (reply.status === 200) state.cache.set(key, { at, reply })
  return reply
}
