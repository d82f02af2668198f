import { readHttpDate } from '../clock/http-time.ts'
import type { TransportResponse } from './transport.ts'

type Headers = Pick<TransportResponse, 'headers'>

/** The first value of a header; undefined if it is missing. */
export function header({ headers }: Headers, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * The service's clock (UNIX seconds): its `Date`, plus `Age`, for how long a cache has kept the answer (RFC 9111 §5.1).
 * Undefined without a `Date`.
 */
export function serviceClock(response: Headers): number | undefined {
  const date = readHttpDate(header(response, 'date'))
  const age = header(response, 'age')?.trim() ?? ''
  return date === undefined || !/^\d{1,9}$/.test(age) ? date : date + Number(age)
}

/** Requests left in the service's own limit. The service's documentation has two names for the header. */
export function rateLimitRemaining(response: Headers): number | undefined {
  const value = header(response, 'x-rate-limit-remaining') ?? header(response, 'x-ratelimit-remaining')
  const remaining = value === undefined || value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(remaining) && remaining >= 0 ? remaining : undefined
}
