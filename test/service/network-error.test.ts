import { expect, test } from 'vitest'
import { networkError } from '../../src/service/network-error.ts'
import { ServiceError } from '../../src/service/service-error.ts'

const coded = (code: string, cause?: unknown) => Object.assign(new Error('connect to 10.0.0.1', { cause }), { code })
const CERTIFICATE = 'its TLS certificate was not accepted (NODE_EXTRA_CA_CERTS names further authorities)'

test.each([
  ['ENOTFOUND', 'there is no such host; check app_id, region and the network'],
  ['EAI_AGAIN', 'the host name could not be looked up; check the network'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was cut'],
  ['UND_ERR_SOCKET', 'the connection was cut'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the connection could not be made in time'],
  ['ETIMEDOUT', 'the connection could not be made in time'],
  ['EHOSTUNREACH', 'there is no way to the host; check the network'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'the answer was larger than callwatch reads (poll.max_answer_bytes)'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', CERTIFICATE],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', CERTIFICATE],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', CERTIFICATE],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its TLS certificate is for another host'],
  ['CERT_HAS_EXPIRED', "its TLS certificate is out of date, or this machine's clock is"],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS failed; what listens there may not speak https'],
  ['HPE_INVALID_CONSTANT', 'what answered does not speak HTTP'],
])('%s is told in words: %s', (code, words) => {
  expect(networkError(coded(code))).toMatchObject({
    kind: 'network',
    message: `no answer from the service: ${words}: ${code}`,
  })
})

test.each([
  ['an unknown code stands by itself', coded('ESOMETHING'), 'ESOMETHING'],
  [
    'the innermost code counts',
    coded('UND_ERR_SOCKET', coded('ECONNREFUSED')),
    'the connection was refused: ECONNREFUSED',
  ],
  [
    'an outer code counts where inner errors have none',
    coded('ECONNRESET', new Error('x')),
    'the connection was cut: ECONNRESET',
  ],
  [
    'several attempts are told by the first',
    new AggregateError([coded('ECONNREFUSED')]),
    'the connection was refused: ECONNREFUSED',
  ],
  ['without any code the innermost message counts', new Error('a', { cause: new Error('b') }), 'b'],
  ['a cause that is no error is passed over', new Error('a', { cause: 'b' }), 'a'],
  ['no attempt at all', new AggregateError([], 'none'), 'none'],
  ['what is no error', 'broken', 'broken'],
])('%s', (_case, error, words) => {
  const wrapped = networkError(error)
  expect(wrapped.message).toBe(`no answer from the service: ${words}`)
  expect(wrapped.cause).toBe(error)
})

test('a timed-out signal is a time-out', () => {
  const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  expect(networkError(error)).toMatchObject({
    kind: 'timeout',
    message: 'the service did not answer in time',
    cause: error,
  })
})

test('a ServiceError stays what it is', () => {
  const error = new ServiceError('server', 'the service answered 500')
  expect(networkError(error)).toBe(error)
})
