import { hash } from 'node:crypto'
import { wholeMilliseconds } from '../clock/times.ts'
import type { CallStatus, SeenCall } from '../ledger/call.ts'
import type { InvalidReason } from '../ledger/series.ts'
import type { ListedCall, ServiceAnswer } from '../ledger/observation.ts'
import type { Keys } from '../ledger/session-calls.ts'
import { withoutPrefix, type App } from '../ledger/session-id.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { isMap, parseMap } from '../schema/path.ts'
import { rateLimitWindow, serviceClock, type RateLimitWindow } from './answer-headers.ts'
import { oneRowACall } from './one-row-a-call.ts'
import { networkError, ServiceError } from './service-error.ts'
import { readAnswer } from './read-answer.ts'
import { isUnchanged, timesIn } from './unchanged-item.ts'
import type { Transport, TransportResponse } from './transport.ts'
import { readCall, readSessionId, type ReadCallOptions } from './wire-call.ts'

/** With the app, as far as it is known. */
export type CallsClientOptions = App & {
  apiKey: string
  /** Limits all answers to the calls of this user. */
  onBehalfOf?: string
  /** Further parameters of List Calls, passed through. */
  query: Readonly<Record<string, string>>
  pageSize: number
  /** Further spellings of statuses, in lower case. */
  statusMap: Readonly<Record<string, CallStatus>>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** How far the service's clock is ahead of the host's (seconds), if known. */
  clockSkew?: () => number | undefined
  /** Finds the tracked calls of a session with these times. An item that does not differ from one of them need not be parsed. */
  known?: (session: string, times: Keys) => Iterable<TrackedCall>
  /** Sets the ids of the rows of an answer. Default: a call has the id of its session. @param now the service's clock (UNIX seconds) */
  identify?: (rows: readonly ListedCall[], now: number, source: ServiceAnswer['source']) => void
  /** Whether to read the participants of calls. */
  participants?: boolean
  /** Whether to read who called whom. */
  parties?: boolean
  /** Called with each undocumented value. */
  onUnknown?: (field: string, value: string) => void
}

/** What every answer has besides its content. */
export type AnswerMetadata = {
  /**
   * The service's clock when it answered (UNIX seconds, whole milliseconds). Without a `Date`, the host's clock plus the
   * known skew.
   */
  serviceTime: number
  /** Whether the answer has no `Date`. */
  isUndated?: boolean
  /** The host's clock when the service answered (UNIX seconds). */
  hostTime: number
  /** The service's own limit, if the answer has it. */
  limit: RateLimitWindow | undefined
}

/** One page of List Calls. */
export type CallPage = AnswerMetadata & {
  page: number
  calls: ListedCall[]
  invalid: Partial<Record<InvalidReason, number>>
  /** The number of items on the page, including invalid ones. */
  items: number
  /** A key for each item: the id of its call, or a digest of the item if it has none. */
  keys: string[]
  /** The number of calls in the whole list, according to the service. */
  total: number | undefined
  totalPages: number | undefined
}

/** The calls of a session that Get Call shows: all of them, or one. */
export type CallAnswer = AnswerMetadata & { calls: SeenCall[] }

/** The calls service's two read operations, one request each. Both reject with a {@link ServiceError}. */
export type CallsClient = ReturnType<typeof callsClient>

/** The body of a Get Call answer, unchanged. Rejects with a {@link ServiceError}, also if the answer is an error. */
export async function getCallText(transport: Transport, options: CallsClientOptions, id: string, signal: AbortSignal) {
  const { response, read } = await getFrom(transport, options)(callPath(id), signal)
  read()
  return response.body
}

export function callsClient(transport: Transport, options: CallsClientOptions) {
  const get = getFrom(transport, options)
  /** The rows with the ids of their calls, one for each call. */
  function identified<Row extends ListedCall>(rows: Row[], now: number, source: ServiceAnswer['source']): Row[] {
    options.identify?.(rows, now, source)
    return options.identify === undefined ? rows : oneRowACall(rows)
  }

  const readOptions = {
    statusMap: new Map(Object.entries(options.statusMap)),
    onUnknown: options.onUnknown ?? (() => undefined),
    participants: options.participants,
    parties: options.parties,
  }

  let knowsItsCalls = false
  /**
   * Whether the answer to the first page means a list without calls: some services answer 204, 404, or `data` that is null or an
   * empty object. A wrong address may do so, too. So one Get Call of an unknown id decides, because the service answers it with its
   * own error, or without a call.
   */
  async function isEmptyAnswer(response: TransportResponse, signal: AbortSignal): Promise<boolean> {
    if (!hasNoList(response)) return false
    knowsItsCalls ||= await get(callPath(UNKNOWN_ID), signal)
      .then(({ read }) => rowsOf(read()).length === 0)
      .catch((error: unknown) => error instanceof ServiceError && error.kind === 'not_found')
    return knowsItsCalls
  }

  /** The tracked call, if the item does not differ from it. */
  function unchanged(item: unknown, now: number): TrackedCall | undefined {
    if (!isMap(item) || typeof item['sessionId'] !== 'string') return undefined
    for (const known of options.known?.(item['sessionId'], timesIn(item)) ?? [])
      if (!readOptions.statusMap.has(known.status) && isUnchanged(item, known, now)) return known
    return undefined
  }

  return {
    /** List Calls: one page, counted from 1. */
    listCalls: async (page: number, signal: AbortSignal): Promise<CallPage> => {
      const query = new URLSearchParams({ ...options.query, page: String(page), perPage: String(options.pageSize) })
      const { answered, response, read } = await get(`/calls?${query.toString()}`, signal)
      const body = page === 1 && (await isEmptyAnswer(response, signal)) ? { data: [] } : read()
      const items = isMap(body) ? body['data'] : undefined
      if (!isMap(body) || !Array.isArray(items)) {
        throw new ServiceError('invalid', 'the service answered List Calls without a `data` array')
      }
      refuseTooLarge(items, options.pageSize)
      const readAt = { ...readOptions, now: latest(answered) }
      const { rows, ...found } = readItems(items, (item) => unchanged(item, readAt.now) ?? readCall(item, readAt))
      const calls = identified(found.calls, answered.serviceTime, 'list')
      const keys = rows.map((row) => (typeof row === 'string' ? row : row.id))
      return { ...answered, page, ...found, calls, keys, ...readTotals(body['meta']) }
    },
    /**
     * Get Call. Rejects with kind `not_found` for an unknown session, and with `invalid` for an answer without a readable call.
     */
    getCall: async (sessionId: string, signal: AbortSignal): Promise<CallAnswer> => {
      const { answered, read } = await get(callPath(sessionId), signal)
      const body = read()
      const readAt = { ...readOptions, now: latest(answered) }
      const rows = rowsOf(body).map((row) => readRow(row, sessionId, { ...readAt, app: options, isBare: row === body }))
      const calls = rows.filter((row) => typeof row === 'object')
      if (calls.length === 0 && !isEmptyList(body)) throw unreadable(rows)
      return { ...answered, calls: identified(calls, answered.serviceTime, 'get') }
    },
  }
}

/** What a segment of a path may contain (RFC 3986 §3.3): the vendor's clients send it as it is. */
const ALLOWED = /%(?:2[146-9A-C]|3[ABD]|40)/g

/**
 * The path of a call, below the base address.
 *
 * @throws {ServiceError} for an id that cannot be requested
 */
export function callPath(sessionId: string): string {
  if (!isRequestable(sessionId)) throw new ServiceError('refused', 'a call with this id cannot be requested')
  return `/calls/${encodeURIComponent(sessionId).replaceAll(ALLOWED, decodeURIComponent)}`
}

/**
 * The rows of a Get Call answer. The vendor's reference has `{ data: call }`, its clients read `{ data: [call, …] }`; either may
 * come without the envelope. A call itself may have a field `data`.
 */
export function rowsOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  if (!isMap(body) || readSessionId(body['sessionId']) !== undefined) return [body]
  const { data } = body
  if (Array.isArray(data)) return data
  if (isNothing(data)) return []
  return [isMap(data) ? data : body]
}

/** Whether a Get Call answer is the list of no calls: the session has none. */
function isEmptyList(body: unknown): boolean {
  const rows = isMap(body) ? body['data'] : body
  return Array.isArray(rows) && rows.length === 0
}

/**
 * A row of the answer for a session, or why it is unusable. In an envelope it need not repeat the id. Without both it is no call, but
 * what a gateway answers, such as `{"status":"error"}`.
 */
function readRow(
  row: unknown,
  sessionId: string,
  { app, isBare, ...options }: ReadCallOptions & { app: App; isBare: boolean },
): SeenCall | InvalidReason | 'another_call' {
  if (!isMap(row)) return 'not_an_object'
  const shown = readSessionId(row['sessionId'])
  if (shown !== undefined && withoutPrefix(shown, app) !== withoutPrefix(sessionId, app)) return 'another_call'
  return readCall(shown === undefined && isBare ? row : { ...row, sessionId }, options)
}

function unreadable(reasons: readonly unknown[]): ServiceError {
  const why = reasons.length === 0 ? 'it has none' : [...new Set(reasons)].join(', ')
  return new ServiceError('invalid', `the service answered Get Call without a call that callwatch can read: ${why}`)
}

/** A request. It and `read`, which reads its answer, fail with a {@link ServiceError}. */
function getFrom(transport: Transport, options: CallsClientOptions) {
  const { apiKey, onBehalfOf } = options
  const headers = { accept: 'application/json', apikey: apiKey, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) }
  return async (path: string, signal: AbortSignal) => {
    const response = await transport({ method: 'GET', path, headers, signal }).catch((error: unknown) => {
      throw networkError(error)
    })
    const hostTime = options.wall()
    const date = serviceClock(response)
    const serviceTime = date ?? wholeMilliseconds(hostTime + (options.clockSkew?.() ?? 0))
    const limit = rateLimitWindow(response, serviceTime)
    const answered: AnswerMetadata = { serviceTime, isUndated: date === undefined, hostTime, limit }
    return { answered, response, read: () => readAnswer(response, { now: serviceTime, apiKey }) }
  }
}

/** An id that no call has. */
export const UNKNOWN_ID = 'callwatch-knows-no-such-call'

/** Matches the code of an error about the user, the app, its plan or the address. */
const NAMES_SOMETHING_ELSE = /"code"\s*:\s*"[^"]*(?:UID|USER|APP|API|ROUTE|PLAN|SUBSCRIPTION)/i

/** A longer answer has calls, or means something else. */
const MOST_CHARACTERS_OF_NONE = 1000

/** Whether an answer may be a list without calls, although it has no list. Other fields than `data` may mean an error. */
function hasNoList({ status, body }: TransportResponse): boolean {
  if (status === 404) return !NAMES_SOMETHING_ELSE.test(body)
  if (status === 204 || status !== 200 || body.length > MOST_CHARACTERS_OF_NONE) return status === 204
  const { data, meta: _meta, ...others } = parseMap(body) ?? { none: true }
  return Object.keys(others).length === 0 && data !== undefined && isNothing(data)
}

function isNothing(data: unknown): boolean {
  return data === null || (isMap(data) && Object.keys(data).length === 0)
}

/**
 * Whether a call can be requested. `.` and `..` in a path would address another resource, even percent-encoded (RFC 3986
 * §5.2.4).
 */
export function isRequestable(sessionId: string): boolean {
  return sessionId !== '.' && sessionId !== '..'
}

/** The later of both clocks. Otherwise a `Date` that is too early would make the times of all calls invalid. */
function latest({ serviceTime, hostTime }: AnswerMetadata): number {
  return Math.max(serviceTime, hostTime)
}

/** `rows` has the calls, and a key for each other item. */
function readItems(
  items: readonly unknown[],
  read: (item: unknown) => ListedCall | InvalidReason,
): Pick<CallPage, 'calls' | 'invalid' | 'items'> & { rows: (ListedCall | string)[] } {
  const calls: ListedCall[] = []
  const invalid: CallPage['invalid'] = {}
  const rows: (ListedCall | string)[] = []
  const anonymousKey = anonymousKeys()
  for (const item of items) {
    const call = read(item)
    if (typeof call === 'object') {
      calls.push(call)
      rows.push(call)
    } else {
      invalid[call] = (invalid[call] ?? 0) + 1
      rows.push(readSessionId(isMap(item) ? item['sessionId'] : undefined) ?? anonymousKey(item))
    }
  }
  return { calls, invalid, items: items.length, rows }
}

/** Keys for the items of a page without an id, different even for equal items. Short, because a sweep keeps them. */
function anonymousKeys(): (item: unknown) => string {
  const counts = new Map<string, number>()
  return (item) => {
    const digest = hash('sha256', JSON.stringify(item), 'base64url')
    const count = counts.get(digest) ?? 0
    counts.set(digest, count + 1)
    return `${digest} ${count}`
  }
}

/** The most items of a page: this many times the requested number, and at least the next number. */
const TIMES_REQUESTED = 10
const MIN_LIMIT = 5000
/** The most participants of one call. */
const MAX_PARTICIPANTS = 50

/**
 * Refuses a page with far more items or participants than requested: reading it would take too long.
 *
 * @throws {ServiceError}
 */
function refuseTooLarge(items: readonly unknown[], pageSize: number): void {
  const maxItems = Math.max(MIN_LIMIT, TIMES_REQUESTED * pageSize)
  if (items.length > maxItems) throw tooMany('items', items.length, pageSize, maxItems)
  const participants = items.reduce((sum: number, item) => sum + participantsIn(item), 0)
  const maxParticipants = Math.max(MIN_LIMIT / MAX_PARTICIPANTS, pageSize) * TIMES_REQUESTED * MAX_PARTICIPANTS
  if (participants > maxParticipants) throw tooMany('participants', participants, pageSize, maxParticipants)
}

function participantsIn(item: unknown): number {
  return isMap(item) && Array.isArray(item['participants']) ? item['participants'].length : 0
}

function tooMany(what: string, found: number, pageSize: number, most: number): ServiceError {
  const message = `the service answered List Calls with ${found} ${what} on one page, where ${pageSize} calls were requested; callwatch reads at most ${most}`
  return new ServiceError('invalid', message)
}

function readTotals(meta: unknown): Pick<CallPage, 'total' | 'totalPages'> {
  const pagination = isMap(meta) && isMap(meta['pagination']) ? meta['pagination'] : {}
  return { total: readCount(pagination['total']), totalPages: readCount(pagination['total_pages']) }
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined
}
