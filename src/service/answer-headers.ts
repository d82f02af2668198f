import { readHttpDate } from '../clock/http-time.ts'
import type { TransportResponse } from './transport.ts'

type Headers = Pick<TransportResponse, 'headers'>

/** The first value of a header; undefined where it is missing. */
export function header({ headers }: Headers, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** The service's clock by the `Date` header (UNIX seconds); undefined where it shows none. */
export function serviceClock(response: Headers): number | undefined {
  return readHttpDate(header(response, 'date'))
}

/** Requests left in the service's own limit; its header's name differs between pages of its documentation. */
export function rateLimitRemaining(response: Headers): number | undefined {
  const value = header(response, 'x-rate-limit-remaining') ?? header(response, 'x-ratelimit-remaining')
  const remaining = value === undefined || value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(remaining) && remaining >= 0 ? remaining : undefined
}
