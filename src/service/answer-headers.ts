import { readHttpDate } from '../clock/http-time.ts'
import type { TransportResponse } from './transport.ts'

type Headers = Pick<TransportResponse, 'headers'>

/** The first value of a header; undefined where it is missing. */
export function header({ headers }: Headers, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * The service's clock (UNIX seconds): its `Date`, which says when the answer was made, and for how long a cache has kept
 * it since then (RFC 9111 §5.1). Undefined where it shows no date.
 */
export function serviceClock(response: Headers): number | undefined {
  const made = readHttpDate(header(response, 'date'))
  const age = header(response, 'age')?.trim() ?? ''
  return made === undefined || !/^\d{1,9}$/.test(age) ? made : made + Number(age)
}

/** Requests left in the service's own limit; its header's name differs between pages of its documentation. */
export function rateLimitRemaining(response: Headers): number | undefined {
  const value = header(response, 'x-rate-limit-remaining') ?? header(response, 'x-ratelimit-remaining')
  const remaining = value === undefined || value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(remaining) && remaining >= 0 ? remaining : undefined
}
