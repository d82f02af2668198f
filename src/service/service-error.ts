import { causesOf, codeOf, ownRefusal, proxyProblem } from '../network/error-causes.ts'

/**
 * Why a request failed.
 *
 * - `auth`: the key is missing or unknown; `scope`: the key has no access
 * - `app`: the service has no such app; `plan`: the subscription or the plan of the app does not allow the request
 * - `not_found`: the service has no such call
 * - `rate_limited`, `server`: the service may answer later
 * - `refused`: any other client error
 * - `invalid`: the answer was not the service's JSON
 * - `timeout`, `network`: there was no answer
 */
export type ServiceErrorKind =
  | 'auth'
  | 'scope'
  | 'app'
  | 'plan'
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
  /** Whether the service has no such user. */
  readonly isUnknownUser: boolean

  constructor(
    kind: ServiceErrorKind,
    message: string,
    details: {
      status?: number
      retryAfter?: number | undefined
      serviceTime?: number
      isUnknownUser?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    this.kind = kind
    this.status = details.status
    this.retryAfter = details.retryAfter
    this.serviceTime = details.serviceTime
    this.isUnknownUser = details.isUnknownUser ?? false
  }
}

/** Whether a retry may succeed. */
export function isRetryable({ kind }: ServiceError): boolean {
  return kind === 'rate_limited' || kind === 'server' || kind === 'invalid' || kind === 'timeout' || kind === 'network'
}

/** The `code` label of a failed request: its HTTP status, or the kind if the status does not mean an error. */
export function requestCode({ kind, status = 0 }: ServiceError): string {
  return kind === 'invalid' || status < 300 ? kind : String(status)
}

/** The meaning of error codes of failed connections. The first match counts. */
const HINTS: readonly [RegExp, string][] = [
  [/^ENOTFOUND$/, 'host not found; check app_id, region and the network'],
  [/^EAI_AGAIN$/, 'the DNS lookup failed; check the network'],
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection reset'],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the connection timed out'],
  [/^E(?:HOST|NET)UNREACH$/, 'no route to the host; check the network'],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, 'the answer was larger than callwatch reads'],
  [/^ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL$/, 'it accepts HTTP/2 only; callwatch uses HTTP/1.1'],
  [/^(?:EPROTO|ERR_SSL_)/, 'TLS failed; that port may not serve HTTPS'],
  [/^ERR_TLS_CERT_ALTNAME/, 'its TLS certificate is for another host'],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, "its TLS certificate is not valid now, or this machine's clock is wrong"],
  [/CERT|SIGN|^ERR_TLS_/, 'its TLS certificate is not trusted (NODE_EXTRA_CA_CERTS adds authorities)'],
  [/^HPE_/, 'the answer was not HTTP'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'the headers of the answer were larger than 16 kB'],
]

/**
 * Wraps the error of a transport. The message contains the innermost code (`ECONNREFUSED`, `ENOTFOUND`, a TLS code) and its
 * meaning.
 */
export function networkError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new ServiceError('timeout', 'the service did not answer in time', { cause: error })
  }
  const causes = causesOf(error)
  const code = codeOf(causes)
  const hint = code === undefined ? undefined : HINTS.find(([codes]) => codes.test(code))?.[1]
  const problem = [hint, code ?? causes.at(-1)?.message ?? String(error)].filter(Boolean)
  const what = proxyProblem(causes) ?? ownRefusal(causes) ?? problem.join(': ')
  return new ServiceError('network', `no answer from the service: ${what}`, { cause: error })
}
