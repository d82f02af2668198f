import { expect, test } from 'vitest'
import { networkError, ServiceError } from '../../../src/service/service-error.ts'

const coded = (code: string, cause?: unknown) => Object.assign(new Error('connect to 10.0.0.1', { cause }), { code })
const CERTIFICATE = 'its TLS certificate is not trusted (NODE_EXTRA_CA_CERTS adds authorities)'

test.each([
  ['ENOTFOUND', 'host not found; check app_id, region and the network'],
  ['EAI_AGAIN', 'the DNS lookup failed; check the network'],
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['UND_ERR_SOCKET', 'connection reset'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the connection timed out'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['EHOSTUNREACH', 'no route to the host; check the network'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'the answer was larger than callwatch reads'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', CERTIFICATE],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', CERTIFICATE],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', CERTIFICATE],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its TLS certificate is for another host'],
  ['CERT_HAS_EXPIRED', "its TLS certificate is not valid now, or this machine's clock is wrong"],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS failed; that port may not serve HTTPS'],
  ['HPE_INVALID_CONSTANT', 'the answer was not HTTP'],
])('the error code %s has the message: %s', (code, words) => {
  expect(networkError(coded(code))).toMatchObject({
    kind: 'network',
    message: `no answer from the service: ${words}: ${code}`,
  })
})

test.each([
  ['an unknown code is the whole message', coded('ESOMETHING'), 'ESOMETHING'],
  ['the innermost code counts', coded('UND_ERR_SOCKET', coded('ECONNREFUSED')), 'connection refused: ECONNREFUSED'],
  [
    'an outer code counts if inner errors have none',
    coded('ECONNRESET', new Error('x')),
    'connection reset: ECONNRESET',
  ],
  [
    'the first of several connection attempts counts',
    new AggregateError([coded('ECONNREFUSED')]),
    'connection refused: ECONNREFUSED',
  ],
  ['without any code the innermost message counts', new Error('a', { cause: new Error('b') }), 'b'],
  ['a cause that is not an error is ignored', new Error('a', { cause: 'b' }), 'a'],
  ['the message counts if there was no connection attempt', new AggregateError([], 'none'), 'none'],
  ['a value that is not an error is its own message', 'broken', 'broken'],
])('of a network error %s', (_case, error, words) => {
  const wrapped = networkError(error)
  expect(wrapped.message).toBe(`no answer from the service: ${words}`)
  expect(wrapped.cause).toBe(error)
})

test('a signal that timed out is a timeout', () => {
  const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  expect(networkError(error)).toMatchObject({
    kind: 'timeout',
    message: 'the service did not answer in time',
    cause: error,
  })
})

test('a ServiceError is not wrapped again', () => {
  const error = new ServiceError('server', 'the service answered 500')
  expect(networkError(error)).toBe(error)
})
