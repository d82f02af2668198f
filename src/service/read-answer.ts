import { readRetryAfter } from '../clock/retry-after.ts'
import { ServiceError, type ServiceErrorKind } from './service-error.ts'
import type { TransportResponse } from './transport.ts'

/** What the service's documented error codes mean; any other code is judged by the HTTP status. */
const CODES: Record<string, ServiceErrorKind> = {
  AUTH_ERR_EMPTY_APIKEY: 'auth',
  AUTH_ERR_APIKEY_NOT_FOUND: 'auth',
  AUTH_ERR_NO_ACCESS: 'scope',
  ERR_CALL_SESSION_NOT_FOUND: 'not_found',
  ERR_TOO_MANY_REQUESTS: 'rate_limited',
}

/**
 * The JSON object that an answer holds. The code in the body tells what went wrong, and only where it says nothing the
 * HTTP status does: an error envelope that comes with 200 is an error all the same.
 *
 * @param now the service's clock when it answered, else the host's (UNIX seconds), for a Retry-After that is a date
 * @throws {ServiceError} for anything but a JSON object that is no error
 */
export function readAnswer(response: TransportResponse, now: number): Record<string, unknown> {
  const { status } = response
  const body = parseObject(response.body)
  const retryAfter = readRetryAfter(header(response, 'retry-after'), now)
  const error = body?.['error']
  if (isObject(error)) {
    const code = typeof error['code'] === 'string' ? error['code'] : undefined
    const said = [code, typeof error['message'] === 'string' ? error['message'] : undefined].filter(Boolean).join(': ')
    const kind =
      (code === undefined ? undefined : CODES[code]) ??
      (code?.startsWith('AUTH_ERR_') ? 'auth' : kindOfStatus(status, true))
    throw new ServiceError(kind, `the service answered ${status} ${clip(said)}`.trimEnd(), { status, retryAfter, now })
  }
  if (status < 200 || status > 299) {
    throw new ServiceError(kindOfStatus(status, false), `the service answered ${status} without an error body`, {
      status,
      retryAfter,
      now,
    })
  }
  if (body === undefined) {
    throw new ServiceError(
      'invalid',
      `the service answered ${status} with something that is not JSON: ${describe(response.body)}`,
      { status },
    )
  }
  return body
}

function kindOfStatus(status: number, isService: boolean): ServiceErrorKind {
  if (status === 429) return 'rate_limited'
  if (status >= 500) return 'server'
  if (status === 401) return 'auth'
  if (status === 403) return 'scope'
  // A bare 404 comes from a proxy or a wrong address: it says nothing about a call.
  if (status === 404 && isService) return 'not_found'
  return status >= 400 ? 'refused' : 'invalid'
}

/** The first value of a header; undefined where it is missing. */
export function header({ headers }: Pick<TransportResponse, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** The service's clock by the `Date` header (UNIX seconds); undefined where it shows none. */
export function serviceClock(response: Pick<TransportResponse, 'headers'>): number | undefined {
  const date = Date.parse(header(response, 'date') ?? '') / 1000
  return Number.isFinite(date) ? date : undefined
}

/** Requests left in the service's own limit; its header's name differs between pages of its documentation. */
export function rateLimitRemaining(response: Pick<TransportResponse, 'headers'>): number | undefined {
  const value = header(response, 'x-rate-limit-remaining') ?? header(response, 'x-ratelimit-remaining')
  const remaining = value === undefined || value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(remaining) && remaining >= 0 ? remaining : undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function describe(body: string): string {
  if (body.length === 0) return 'an empty body'
  if (/^\s*</.test(body)) return 'an HTML page'
  return `${body.length} characters that are no JSON object`
}

/** What the service said, short enough for a log line. */
function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
