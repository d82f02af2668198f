import { ServiceError } from './service-error.ts'

/** What the code of a failed connection means to whoever reads the log; the first that fits. */
const HINTS: readonly [RegExp, string][] = [
  [/^ENOTFOUND$/, 'there is no such host; check app_id, region and the network'],
  [/^EAI_AGAIN$/, 'the host name could not be looked up; check the network'],
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the connection was cut'],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the connection could not be made in time'],
  [/^E(?:HOST|NET)UNREACH$/, 'there is no way to the host; check the network'],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, 'the answer was larger than callwatch reads (poll.max_answer_bytes)'],
  [/^(?:EPROTO|ERR_SSL_)/, 'TLS failed; what listens there may not speak https'],
  [/^ERR_TLS_CERT_ALTNAME/, 'its TLS certificate is for another host'],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, "its TLS certificate is out of date, or this machine's clock is"],
  [/CERT|SIGN|^ERR_TLS_/, 'its TLS certificate was not accepted (NODE_EXTRA_CA_CERTS names further authorities)'],
  [/^HPE_/, 'what answered does not speak HTTP'],
]

/**
 * Wraps whatever a transport rejects with. The innermost code says most (`ECONNREFUSED`, `ENOTFOUND`, a TLS code), and
 * what it means is put before it.
 */
export function networkError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new ServiceError('timeout', 'the service did not answer in time', { cause: error })
  }
  const { code, message } = rootOf(error)
  const hint = code === undefined ? undefined : HINTS.find(([codes]) => codes.test(code))?.[1]
  const what = [hint, code ?? message].filter(Boolean).join(': ')
  return new ServiceError('network', `no answer from the service: ${what}`, { cause: error })
}

type Root = { code: string | undefined; message: string }

/** The innermost error that has a code; the innermost of all where none has. */
function rootOf(error: unknown): Root {
  if (!(error instanceof Error)) return { code: undefined, message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  if (!(inner instanceof Error)) return { code, message: error.message }
  const root = rootOf(inner)
  return root.code === undefined && code !== undefined ? { code, message: error.message } : root
}
