import { readHttpDate } from '../clock/times.ts'
import type { TransportResponse } from './transport.ts'

type Headers = Pick<TransportResponse, 'headers'>

/** The first value of a header; undefined if it is missing. */
export function header({ headers }: Headers, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * The service's clock (UNIX seconds): the header `Date`, plus `Age`, which is how long a cache has kept the answer (RFC 9111
 * §5.1). Undefined without a `Date`.
 */
export function serviceClock(response: Headers): number | undefined {
  const date = readHttpDate(header(response, 'date'))
  const age = header(response, 'age')?.trim() ?? ''
  return date === undefined || !/^\d{1,9}$/.test(age) ? date : date + Number(age)
}

/**
 * The service's own rate limit: how many requests are left in its window, when the window ends (seconds from now), and how many
 * requests a window allows; the last two if known.
 */
export type RateLimitWindow = { remaining: number; resetIn: number | undefined; limit: number | undefined }

/**
 * The service's documentation spells these headers in two ways. Others omit the X, or use a single header (the IETF's draft).
 */
const PREFIXES = ['x-rate-limit', 'x-ratelimit', 'ratelimit']

/** From the first on, a number is a time in UNIX seconds; from the second on in milliseconds. A smaller one is the seconds left. */
const [SECONDS, MILLISECONDS] = [1e8, 1e11]

/** @param now the service's clock (UNIX seconds) */
export function rateLimitWindow(response: Headers, now: number): RateLimitWindow | undefined {
  const combined = [header(response, 'ratelimit'), header(response, 'ratelimit-policy')].join(';')
  const read = (name: string, key: RegExp) =>
    numberOf(PREFIXES.map((prefix) => header(response, `${prefix}-${name}`)).find((value) => value !== undefined)) ??
    numberOf(key.exec(combined)?.[1])
  const remaining = read('remaining', /\b(?:r|remaining)=(\d+)/)
  if (remaining === undefined) return undefined
  const reset = read('reset', /\b(?:t|reset)=(\d+)/)
  const time = reset !== undefined && reset >= MILLISECONDS ? reset / 1000 : reset
  const resetIn = time === undefined || time < SECONDS ? time : Math.max(0, time - now)
  return {
    remaining,
    resetIn,
    limit: read('limit', /\b(?:q|limit)=(\d+)/) ?? numberOf(header(response, 'x-rate-limit')),
  }
}

/** The first number of a list, as in `10, 10;w=1`. */
function numberOf(value = ''): number | undefined {
  const [first = ''] = value.split(/[,;]/)
  const number = first.trim() === '' ? Number.NaN : Number(first)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}
