import type { CallStatus, SeenCall } from '../ledger/call.ts'
import type { Rejection } from '../ledger/series.ts'
import { isObject, rateLimitRemaining, readAnswer, serviceClock } from './read-answer.ts'
import { ServiceError } from './service-error.ts'
import type { Transport, TransportResponse } from './transport.ts'
import { readCall, readSessionId } from './wire-call.ts'

export type CallsClientOptions = {
  apiKey: string
  /** Scopes every answer to this user's calls. */
  onBehalfOf: string | undefined
  /** Further List Calls parameters, passed through. */
  query: Readonly<Record<string, string>>
  pageSize: number
  statusMap: Readonly<Record<string, CallStatus>>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Told each value outside the documented ones. */
  onUnknown: (field: string, value: string) => void
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
  calls: SeenCall[]
  rejected: Partial<Record<Rejection, number>>
  /** How many items the page had, unusable ones included. */
  items: number
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
    return { answered: { now, host, remaining: rateLimitRemaining(response) }, body: readAnswer(response, now) }
  }

  return {
    listCalls: async (page, signal) => {
      const query = new URLSearchParams({ ...options.query, page: String(page), perPage: String(options.pageSize) })
      const { answered, body } = await get(`/calls?${query.toString()}`, signal)
      const items = body['data']
      if (!Array.isArray(items)) {
        throw new ServiceError('invalid', 'the service answered List Calls without a `data` array')
      }
      const calls: SeenCall[] = []
      const rejected: CallPage['rejected'] = {}
      for (const item of items) {
        const read = readCall(item, { ...options, now: answered.now })
        if (typeof read === 'object') calls.push(read)
        else rejected[read] = (rejected[read] ?? 0) + 1
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
      const read = readCall({ ...item, sessionId }, { ...options, now: answered.now })
      return { ...answered, call: typeof read === 'object' ? read : undefined }
    },
  }
}

/** Wraps whatever a transport rejects with; its cause's code says most (`ECONNREFUSED`, `ENOTFOUND`, a TLS code). */
export function networkError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const { code, message } = deepestCause(error)
  const hint = HINTS[code ?? ''] ?? (code && /CERT|SIGNED|TLS|SSL/.test(code) ? TLS_HINT : undefined)
  const what = [hint, code ?? message].filter(Boolean).join(': ')
  return new ServiceError('network', `no answer from the service: ${what}`, { cause: error })
}

const TLS_HINT = 'its TLS certificate was not accepted (NODE_EXTRA_CA_CERTS names further authorities)'
const HINTS: Record<string, string> = {
  ENOTFOUND: 'there is no such host; check app_id, region and the network',
  EAI_AGAIN: 'the host name could not be looked up; check the network',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be made in time',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer was larger than callwatch reads',
}

function deepestCause(error: unknown): { code: string | undefined; message: string } {
  if (!(error instanceof Error)) return { code: undefined, message: String(error) }
  if (error instanceof AggregateError && error.errors.length > 0) return deepestCause(error.errors[0])
  if (error.cause !== undefined) return deepestCause(error.cause)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { code, message: error.message }
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined
}
