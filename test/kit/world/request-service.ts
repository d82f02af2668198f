import { answer } from '../../../src/simulator/answers/answer.ts'
import type { Reply } from '../../../src/simulator/answers/http.ts'
import type { CallsService } from '../../../src/simulator/answers/service.ts'
import { createWorldService, setSwitches, type WorldOptions, type WorldService } from './start-world.ts'

export const START = 1_800_000_000

type Shown = {
  sessionId: string
  type: string
  status: string
  initiatedAt: number
  startedAt?: number
  endedAt?: number
}
export type ShownPage = { data: Shown[]; meta: { pagination: { total?: number; total_pages?: number; count: number } } }

/** A world of 60 calls, about one a minute, in which no more begin. */
export function serviceOf(options: WorldOptions = {}): WorldService {
  const plain = { history: 60, open: 0, callsPerMinute: 0, mostRecordedResponses: 0 }
  const switches = { perPage: 1000, ...options.switches }
  return createWorldService({ ...plain, ...options, switches }, START)
}

/** No further calls begin, or are drawn, which takes most of the time where many hours pass. */
export function endArrivals(service: WorldService): void {
  setSwitches(service, { arrivals: false })
  service.world.options = { ...service.world.options, callsPerMinute: 0 }
}

export function ask(service: CallsService, at: number, path = '/v3/calls', query = 'perPage=1000'): Reply {
  const request = { method: 'GET', path, query, headers: { apikey: service.keys.fullAccess } }
  return answer(service, request, at).reply
}

export function getCall(service: CallsService, at: number, id: string): Reply {
  return ask(service, at, `/v3/calls/${encodeURIComponent(id)}`, '')
}

export function list(service: CallsService, at: number, query?: string): ShownPage {
  return JSON.parse(ask(service, at, '/v3/calls', query).body)
}

export const idsOf = ({ data }: ShownPage): string[] => data.map(({ sessionId }) => sessionId)
