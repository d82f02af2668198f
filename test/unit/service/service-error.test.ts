import { expect, test } from 'vitest'
import { isRetryable, requestCode, ServiceError } from '../../../src/service/service-error.ts'

test.each([
  ['auth', 401, false, '401'],
  ['scope', 403, false, '403'],
  ['not_found', 404, false, '404'],
  ['not_found', 200, false, 'not_found'],
  ['plan', 403, false, '403'],
  ['plan', 200, false, 'plan'],
  ['app', 401, false, '401'],
  ['refused', 400, false, '400'],
  ['rate_limited', 429, true, '429'],
  ['server', 503, true, '503'],
  ['invalid', 200, true, 'invalid'],
  ['timeout', undefined, true, 'timeout'],
  ['network', undefined, true, 'network'],
] as const)('an error of kind %s with the status %s: retryable %s, code %s', (kind, status, retryable, code) => {
  const error = new ServiceError(kind, 'it failed', status === undefined ? {} : { status })
  expect(isRetryable(error)).toBe(retryable)
  expect(requestCode(error)).toBe(code)
})
