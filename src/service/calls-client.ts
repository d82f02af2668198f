import type { CallStatus, SeenCall } from '../ledger/call.ts'
import type { Rejection } from '../ledger/series.ts'
import type { ListedCall } from '../ledger/step.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { rateLimitRemaining, serviceClock } from './answer-headers.ts'
import { isObject } from './json-object.ts'
import { networkError } from './network-error.ts'
import { readAnswer } from './read-answer.ts'
import { saysNothingNew } from './says-nothing-new.ts'
import { ServiceError } from './service-error.ts'
import type { Transport, TransportResponse } from './transport.ts'
import { readCall, readSessionId } from './wire-call.ts'

export type CallsClientOptions = {
  apiKey: string
  /** Scopes every answer to this user's calls. */
  onBehalfOf?: string
  /** Further List Calls parameters, passed through. */
  query: Readonly<Record<string, string>>
  pageSize: number
  /** Further spellings of statuses, in any case. */
  statusMap: Readonly<Record<string, CallStatus>>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** What is remembered of a call: an item that says nothing new of it need not be read. */
  known?: (id: string) => TrackedCall | undefined
  /** Told each value outside the documented ones. */
  onUnknown?: (field: string, value: string) => void
}

/** What every answer tells beside its content. */
export type Answered = {
  /** The service's clock when it answered, the host's where it shows none (UNIX seconds). */
  now: number
  /** The host's clock at that moment (UNIX seconds). */
  host: number
  /** Requests left in the service's own limit, where it says so. */
  remaining: number | undefined
}

/** One page of List Calls. */
export type CallPage = Answered & {
  page: number
  calls: ListedCall[]
  rejected: Partial<Record<Rejection, number>>
  /** How many items the page had, unusable ones included. */
  items: number
  /** What tells its items apart: a session id, or the whole item where it has none. */
  keys: string[]
  /** How many calls the whole list has, as the service says. */
  total: number | undefined
  totalPages: number | undefined
}

export type CallAnswer = Answered & { call: SeenCall | undefined }

/** The calls service's two read operations, one request each. Both reject with a {@link ServiceError}. */
export type CallsClient = {
  /** List Calls, one page, counted from 1. */
  listCalls: (page: number, signal: AbortSignal) => Promise<CallPage>
  /** Get Call. `call` is undefined where the answer was there, but not usable. Rejects with kind `not_found` for an unknown session. */
  getCall: (sessionId: string, signal: AbortSignal) => Promise<CallAnswer>
}

export function callsClient(transport: Transport, options: CallsClientOptions): CallsClient {
  const headers = {
    accept: 'application/json',
    apikey: options.apiKey,
    ...(options.onBehalfOf === undefined ? {} : { onBehalfOf: options.onBehalfOf }),
  }

  const spellings = Object.entries(options.statusMap).map(
    ([spelling, status]) => [spelling.toLowerCase(), status] as const,
  )
  const reading = { statusMap: new Map(spellings), onUnknown: options.onUnknown ?? (() => undefined) }

  async function get(
    path: string,
    signal: AbortSignal,
  ): Promise<{ answered: Answered; body: Record<string, unknown> }> {
    let response: TransportResponse
    try {
      response = await transport({ method: 'GET', path, headers, signal })
    } catch (error) {
      throw networkError(error)
    }
    const host = options.wall()
    const now = serviceClock(response) ?? host
    const body = readAnswer(response, { now, apiKey: options.apiKey })
    return { answered: { now, host, remaining: rateLimitRemaining(response) }, body }
  }

  /** The call that an item says nothing new of. */
  function unchanged(item: unknown): TrackedCall | undefined {
    if (!isObject(item) || typeof item['sessionId'] !== 'string') return undefined
    const known = options.known?.(item['sessionId'])
    if (known === undefined || reading.statusMap.has(known.status)) return undefined
    return saysNothingNew(item, known) ? known : undefined
  }

  return {
    listCalls: async (page, signal) => {
      const query = new URLSearchParams({ ...options.query, page: String(page), perPage: String(options.pageSize) })
      const { answered, body } = await get(`/calls?${query.toString()}`, signal)
      const items = body['data']
      if (!Array.isArray(items)) {
        throw new ServiceError('invalid', 'the service answered List Calls without a `data` array')
      }
      const calls: ListedCall[] = []
      const rejected: CallPage['rejected'] = {}
      const keys: string[] = []
      const readAt = { ...reading, now: latest(answered) }
      for (const item of items) {
        const read = unchanged(item) ?? readCall(item, readAt)
        if (typeof read === 'object') {
          calls.push(read)
          keys.push(read.id)
        } else {
          rejected[read] = (rejected[read] ?? 0) + 1
          keys.push(readSessionId(isObject(item) ? item['sessionId'] : undefined) ?? anonymousKey(item, keys))
        }
      }
      const meta = isObject(body['meta']) ? body['meta'] : {}
      const pagination = isObject(meta['pagination']) ? meta['pagination'] : {}
      const total = readCount(pagination['total'])
      return {
        ...answered,
        page,
        calls,
        rejected,
        items: items.length,
        keys,
        total,
        totalPages: readCount(pagination['total_pages']),
      }
    },
    getCall: async (sessionId, signal) => {
      const { answered, body } = await get(`/calls/${encodeURIComponent(sessionId)}`, signal)
      const item = isObject(body['data']) ? body['data'] : body
      const shown = readSessionId(item['sessionId'])
      if (shown !== undefined && shown !== sessionId) {
        throw new ServiceError('invalid', 'the service answered Get Call with another call than was asked for')
      }
      const read = readCall({ ...item, sessionId }, { ...reading, now: latest(answered) })
      return { ...answered, call: typeof read === 'object' ? read : undefined }
    },
  }
}

/** What is far ahead of both clocks is a mistake; a service whose `Date` fell back must not lose the times of all calls. */
function latest({ now, host }: Answered): number {
  return Math.max(now, host)
}

/** Tells an item without an id apart from the others of its page, also from one that is the same. */
function anonymousKey(item: unknown, keys: readonly string[]): string {
  const text = JSON.stringify(item)
  return `${text} ${keys.filter((key) => key.startsWith(text)).length}`
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined
}
