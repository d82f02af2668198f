/**
 * Why a request failed.
 *
 * - `auth`: the key is missing or unknown; `scope`: the key has no access
 * - `not_found`: the service has no such call
 * - `rate_limited`, `server`: the service may answer later
 * - `refused`: any other client error
 * - `invalid`: the answer was not the service's JSON
 * - `timeout`, `network`: there was no answer
 */
export type ServiceErrorKind =
  | 'auth'
  | 'scope'
  | 'not_found'
  | 'rate_limited'
  | 'server'
  | 'refused'
  | 'invalid'
  | 'timeout'
  | 'network'

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly kind: ServiceErrorKind
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** How long to wait, from Retry-After (seconds). */
  readonly retryAfter: number | undefined
  /** The service's clock when it answered (UNIX seconds). */
  readonly serviceTime: number | undefined

  constructor(
    kind: ServiceErrorKind,
    message: string,
    details: { status?: number; retryAfter?: number | undefined; serviceTime?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.kind = kind
    this.status = details.status
    this.retryAfter = details.retryAfter
    this.serviceTime = details.serviceTime
  }
}

/** Whether a retry may succeed. */
export function isRetryable({ kind }: ServiceError): boolean {
  return kind === 'rate_limited' || kind === 'server' || kind === 'invalid' || kind === 'timeout' || kind === 'network'
}

/** The `code` label of a failed request: its HTTP status, or the kind of an error without a meaningful one. */
export function requestCode(error: ServiceError): string {
  if (error.kind === 'timeout' || error.kind === 'network' || error.kind === 'invalid') return error.kind
  return String(error.status)
}
