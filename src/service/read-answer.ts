import { readRetryAfter } from '../clock/http-time.ts'
import { header } from './answer-headers.ts'
import { isObject, parseObject } from './json-object.ts'
import { isTooComplex } from './json-complexity.ts'
import { quoteLongIds } from './quote-long-ids.ts'
import { ServiceError, type ServiceErrorKind } from './service-error.ts'
import type { TransportResponse } from './transport.ts'

/** What the service's documented error codes mean; any other code is judged by the HTTP status. */
const CODES: ReadonlyMap<string, ServiceErrorKind> = new Map([
  ['AUTH_ERR_EMPTY_APIKEY', 'auth'],
  ['AUTH_ERR_APIKEY_NOT_FOUND', 'auth'],
  ['AUTH_ERR_NO_ACCESS', 'scope'],
  ['ERR_CALL_SESSION_NOT_FOUND', 'not_found'],
  ['ERR_TOO_MANY_REQUESTS', 'rate_limited'],
])

export type AnswerContext = {
  /** The service's clock when it answered, else the host's (UNIX seconds), for a Retry-After that is a date. */
  now: number
  /** The key that was sent. An error that quotes it is told without it. */
  apiKey: string
}

/**
 * The JSON object that an answer holds. The code in the body tells what went wrong, and only where it says nothing the
 * HTTP status does: an error envelope that comes with 200 is an error all the same.
 *
 * @throws {ServiceError} for anything but a JSON object that is no error
 */
export function readAnswer(response: TransportResponse, { now, apiKey }: AnswerContext): Record<string, unknown> {
  const { status } = response
  const body = isTooComplex(response.body) ? undefined : parseObject(quoteLongIds(response.body))
  const error = body?.['error']
  if (isObject(error) || status < 200 || status > 299) {
    const code = isObject(error) && typeof error['code'] === 'string' ? error['code'] : undefined
    const kind =
      (code === undefined ? undefined : CODES.get(code)) ??
      (code?.startsWith('AUTH_ERR_') ? 'auth' : kindOfStatus(status))
    const said = isObject(error) ? quote(error, apiKey) : 'without an error body'
    const retryAfter = readRetryAfter(header(response, 'retry-after'), now)
    throw new ServiceError(kind, `the service answered ${status} ${said}`, { status, retryAfter, now })
  }
  if (body === undefined) {
    const what = `the service answered ${status} with something that is no JSON object: ${describe(response.body)}`
    throw new ServiceError('invalid', what, { status, now })
  }
  return body
}

/** A 404 by itself says nothing about a call: it may come from a proxy, a wrong address, or be about the user. */
function kindOfStatus(status: number): ServiceErrorKind {
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

/** Characters that are looked at for the 200 that are shown. */
const MOST_QUOTED = 10_000

/** What the service said of an error, in one line that is short enough for a log and does not hold the key. */
function quote(error: Record<string, unknown>, apiKey: string): string {
  const parts = [error['code'], error['message']].filter((part) => typeof part === 'string' && part !== '')
  if (parts.length === 0) return 'with an error that says nothing'
  const said = parts.join(': ')
  const harmless = (apiKey === '' ? said : said.replaceAll(apiKey, '********'))
    .slice(0, MOST_QUOTED)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
  return harmless.length > 200 ? `${harmless.slice(0, 200)}…` : harmless
}
