import { readRetryAfter } from '../clock/times.ts'
import { isMap, parseTree } from '../schema/path.ts'
import { header } from './answer-headers.ts'
import { ServiceError, type ServiceErrorKind } from './service-error.ts'
import type { TransportResponse } from './transport.ts'

/** Calls of the service are nested four deep. */
const DEEPEST = 64
/** The most fields of one object. */
const MAX_FIELDS = 10_000
/** At most one of this many characters may open an object or an array. In a dense page of calls it is one of 19. */
const CHARACTERS_PER_OPENING = 8
/** Shorter texts are not checked, because they parse fast in any case. */
const CHECKED_CHARACTERS = 256 * 1024
const [QUOTE, BACKSLASH, COLON] = [34, 92, 58]
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [91, 93, 123, 125]

/**
 * Whether parsing a long JSON text would take unusual time and memory: it is nested very deeply, has an object with thousands
 * of fields, or consists mostly of brackets.
 */
function isTooComplex(json: string): boolean {
  if (json.length < CHECKED_CHARACTERS) return false
  let left = json.length / CHARACTERS_PER_OPENING
  let depth = 0
  const fields = new Uint32Array(DEEPEST + 1)
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i)
    if (character === QUOTE) i = endOfString(json, i)
    else if (character === BRACKET || character === BRACE) {
      depth += 1
      left -= 1
      if (depth > DEEPEST || left < 0) return true
      fields[depth] = 0
    } else if (character === COLON) {
      fields[depth]! += 1
      if (fields[depth]! > MAX_FIELDS) return true
    } else if (character === BRACKET_END || character === BRACE_END) depth -= 1
  }
  return false
}

/** Where the string ends that begins here. */
function endOfString(json: string, begin: number): number {
  let i = begin + 1
  for (let character = json.charCodeAt(i); i < json.length && character !== QUOTE; character = json.charCodeAt(i)) {
    i += character === BACKSLASH ? 2 : 1
  }
  return i
}

/**
 * Matches a `sessionId` that is an integer literal and may exceed 2^53, beyond which numbers are inexact. Within a JSON
 * string its quotes would have backslashes, so nothing else matches. Literals with a fraction or an exponent do not match
 * either. The number of digits is limited, because the stack of the regular expression would grow with it.
 */
const LONG_ID = /(?<!\\)("sessionId"\s*:\s*)(-?[1-9]\d{15,498})(?![\d.eE])/g

/**
 * Turns such ids of a JSON text into strings. A reviver of `JSON.parse` would also get the literals, but it is called for
 * each value, and takes seven times as long as parsing.
 */
export function quoteLongIds(json: string): string {
  return json.replaceAll(LONG_ID, '$1"$2"')
}

const NO_SUCH_APP = 'the service has no such app; check app_id and region, or base_url'
const NO_SUCH_KEY = 'the key is not accepted; check api_key, and app_id and region, since a key belongs to one app'
const DASHBOARD = "in the service's dashboard"

/**
 * The service's documented error codes. For other codes the HTTP status decides. The message of the error begins with what a code means
 * and what to do: probe, status, log and alerts show it.
 */
const NO_SUCH_USER = 'ERR_UID_NOT_FOUND'
const CODES = new Map<unknown, readonly [kind: ServiceErrorKind, meaning?: string]>([
  ['AUTH_ERR_EMPTY_APIKEY', ['auth']],
  ['AUTH_ERR_APIKEY_NOT_FOUND', ['auth']],
  ['AUTH_ERR_NO_ACCESS', ['scope']],
  ['AUTH_ERR_EMPTY_APPID', ['app', NO_SUCH_APP]],
  ['AUTH_ERR_INVALID_APPID', ['app', NO_SUCH_APP]],
  ['ERR_SUBSCRIPTION_EXPIRED', ['plan', `the subscription of the app has expired; renew it ${DASHBOARD}`]],
  ['ERR_PLAN_RESTRICTION', ['plan', `the plan of the app does not include this; change the plan ${DASHBOARD}`]],
  ['ERR_PLAN_QUOTA_RESTRICTION', ['plan', `the quota of the app's plan is used up; raise it ${DASHBOARD}`]],
  ['ERR_CALL_SESSION_NOT_FOUND', ['not_found']],
  [NO_SUCH_USER, ['refused', 'the service has no such user; check the id']],
  ['ERR_TOO_MANY_REQUESTS', ['rate_limited']],
])

type ReadAnswerOptions = {
  /** The service's clock when it answered, or else the host's (UNIX seconds). Needed for a Retry-After that is a date. */
  now: number
  /** The key of the request, to be masked in errors. */
  apiKey: string
}

/**
 * The JSON object or array of an answer. An error code in the body has priority over the HTTP status: an error with status 200 is
 * still an error.
 *
 * @throws {ServiceError} for an error, and for anything but a JSON object or array
 */
export function readAnswer(
  response: TransportResponse,
  { now, apiKey }: ReadAnswerOptions,
): NonNullable<ReturnType<typeof parseTree>> {
  const { status } = response
  const body = isTooComplex(response.body) ? undefined : parseTree(quoteLongIds(response.body))
  const error = isMap(body) && isMap(body['error']) ? body['error'] : undefined
  if (error !== undefined || status < 200 || status > 299) {
    const retryAfter = readRetryAfter(header(response, 'retry-after'), now)
    const answered = `the service answered ${status} ${quote(error, apiKey)}`
    const code = error?.['code']
    const [kind, meaning] = meaningOf(code, status)
    const message = meaning === undefined ? answered : `${meaning} (${answered})`
    throw new ServiceError(kind, message, {
      status,
      retryAfter,
      serviceTime: now,
      isUnknownUser: code === NO_SUCH_USER,
    })
  }
  if (body === undefined) {
    const problem = `the service answered ${status} with something that is neither a JSON object nor a list: ${describe(response.body)}`
    throw new ServiceError('invalid', problem, { status, serviceTime: now })
  }
  return body
}

function meaningOf(code: unknown, status: number): readonly [kind: ServiceErrorKind, meaning?: string] {
  const known = CODES.get(code) ?? [kindOf(code, status)]
  return known[0] === 'auth' ? ['auth', NO_SUCH_KEY] : known
}

/**
 * The kind of an error whose code is not documented. A 404 alone does not mean an unknown call. It may come from a proxy or a wrong
 * address, or may be about the user.
 */
function kindOf(code: unknown, status: number): ServiceErrorKind {
  if (typeof code === 'string' && code.startsWith('AUTH_ERR_')) return 'auth'
  if (status === 429) return 'rate_limited'
  if (status === 408) return 'server'
  if (status >= 500) return 'server'
  if (status === 401) return 'auth'
  if (status === 403) return 'scope'
  return status >= 400 ? 'refused' : 'invalid'
}

function describe(body: string): string {
  if (body.trim() === '') return 'an empty body'
  if (/^\s*</.test(body)) return 'an HTML page'
  if (isTooComplex(body))
    return `${body.length} characters, nested too deeply or with too many brackets or fields for calls`
  return `${body.length} characters`
}

/** How many characters are cleaned up to show at most 200. */
const CLEANED_CHARACTERS = 10_000

/** The service's error in one short line, without the key. */
function quote(error: Record<string, unknown> | undefined, apiKey: string): string {
  if (error === undefined) return 'without an error body'
  const parts = [error['code'], error['message']].filter((part) => typeof part === 'string' && part !== '')
  if (parts.length === 0) return 'with an error without code and message'
  const text = parts.join(': ')
  const line = (apiKey === '' ? text : text.replaceAll(apiKey, '********'))
    .slice(0, CLEANED_CHARACTERS)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
