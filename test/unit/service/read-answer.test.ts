import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAnswer } from '../../../src/service/read-answer.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { answer, type Reply } from './fake-transport.ts'
import { runs } from '../../kit/runs.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000
const KEY = 'k3y-0f-a-target'

function read(given: Reply) {
  return readAnswer(answer(given), { now: NOW, apiKey: KEY })
}

function refusal(given: Reply): ServiceError {
  try {
    read(given)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('it was accepted')
}

const error = (code: unknown, message?: unknown) => ({ error: { code, message } })

test.each([
  ['with data', { data: [] }],
  ['with an error that is null', { data: [], error: null }],
  ['with nothing in it', {}],
  ['that is a list', [{ sessionId: 'a' }]],
])('the JSON object or list of an answer is read %s', (_case, body) => {
  expect(read({ body })).toEqual(body)
  expect(read({ body, status: 201 })).toEqual(body)
})

describe('the error code in the body of an answer decides, whatever the HTTP status', () => {
  test.each([
    ['AUTH_ERR_EMPTY_APIKEY', 'auth'],
    ['AUTH_ERR_APIKEY_NOT_FOUND', 'auth'],
    ['AUTH_ERR_SOMETHING_NEW', 'auth'],
    ['AUTH_ERR_NO_ACCESS', 'scope'],
    ['AUTH_ERR_INVALID_APPID', 'app'],
    ['AUTH_ERR_EMPTY_APPID', 'app'],
    ['ERR_SUBSCRIPTION_EXPIRED', 'plan'],
    ['ERR_PLAN_RESTRICTION', 'plan'],
    ['ERR_PLAN_QUOTA_RESTRICTION', 'plan'],
    ['ERR_CALL_SESSION_NOT_FOUND', 'not_found'],
    ['ERR_TOO_MANY_REQUESTS', 'rate_limited'],
  ])('%s is %s', (code, kind) => {
    for (const status of [200, 400, 401, 403, 404, 429, 500]) {
      expect(refusal({ status, body: error(code, 'no') })).toMatchObject({ kind, status, serviceTime: NOW })
    }
  })
})

describe('the HTTP status of an answer decides if the body has no known error code', () => {
  test.each([
    [200, 'invalid'],
    [301, 'invalid'],
    [400, 'refused'],
    [401, 'auth'],
    [403, 'scope'],
    [404, 'refused'],
    [429, 'rate_limited'],
    [500, 'server'],
    [502, 'server'],
    [503, 'server'],
  ])('%d is %s', (status, kind) => {
    for (const code of ['ERR_SOMETHING', 'constructor', 404, undefined]) {
      expect(refusal({ status, body: error(code) }).kind).toBe(kind)
    }
    if (status !== 200) for (const body of ['', '<html>', {}]) expect(refusal({ status, body }).kind).toBe(kind)
  })

  test('a 404 is not an unknown call without the error code for that', () => {
    expect(refusal({ status: 404 }).kind).toBe('refused')
    expect(refusal({ status: 404, body: '<html>not found</html>' }).kind).toBe('refused')
    expect(refusal({ status: 404, body: error('ERR_UID_NOT_FOUND') }).kind).toBe('refused')
    expect(refusal({ status: 404, body: error(undefined, 'not found') }).kind).toBe('refused')
  })
})

describe('the message of a refused answer', () => {
  test.each<[Reply, string]>([
    [
      { status: 401, body: error('AUTH_ERR_APIKEY_NOT_FOUND', 'no such key') },
      'the key is not accepted; check api_key, and app_id and region, since a key belongs to one app (the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: no such key)',
    ],
    [{ status: 400, body: error('ERR_BAD_REQUEST') }, 'the service answered 400 ERR_BAD_REQUEST'],
    [{ status: 400, body: error(undefined, 'bad page') }, 'the service answered 400 bad page'],
    [
      { status: 500, body: error('ERR', 'first\nsecond\t\u001B[31mthird') },
      'the service answered 500 ERR: first second [31mthird',
    ],
    [{ status: 500, body: { error: {} } }, 'the service answered 500 with an error without code and message'],
    [{ status: 502, body: '<html>bad gateway</html>' }, 'the service answered 502 without an error body'],
    [{ status: 404, body: { error: 'not found' } }, 'the service answered 404 without an error body'],
    [{ body: '' }, 'the service answered 200 with something that is neither a JSON object nor a list: an empty body'],
    [
      { body: '\n <!doctype html>' },
      'the service answered 200 with something that is neither a JSON object nor a list: an HTML page',
    ],
    [
      { body: '{"data":[{"sess' },
      'the service answered 200 with something that is neither a JSON object nor a list: 15 characters',
    ],
    [
      { body: 'null' },
      'the service answered 200 with something that is neither a JSON object nor a list: 4 characters',
    ],
  ])('for %j is: %s', (given, sentence) => {
    expect(refusal(given).message).toBe(sentence)
  })

  test.each([
    ['ERR_SUBSCRIPTION_EXPIRED', "the subscription of the app has expired; renew it in the service's dashboard"],
    ['ERR_PLAN_RESTRICTION', "the plan of the app does not include this; change the plan in the service's dashboard"],
    ['ERR_PLAN_QUOTA_RESTRICTION', "the quota of the app's plan is used up; raise it in the service's dashboard"],
    ['AUTH_ERR_INVALID_APPID', 'the service has no such app; check app_id and region, or base_url'],
    ['AUTH_ERR_EMPTY_APPID', 'the service has no such app; check app_id and region, or base_url'],
  ])('begins with the meaning of %s and what to do', (code, meaning) => {
    for (const status of [200, 403, 429])
      expect(refusal({ status, body: error(code, 'no') }).message).toBe(
        `${meaning} (the service answered ${status} ${code}: no)`,
      )
  })

  test('is of kind invalid if an answer of 200 is neither a JSON object nor a list', () => {
    for (const body of ['', '<html>', '{"data":[', '[', '"text"', '12']) {
      expect(refusal({ body })).toMatchObject({ kind: 'invalid', status: 200 })
    }
  })

  test('is shortened if the error of the service is long', () => {
    expect(refusal({ status: 500, body: error('ERR', 'x'.repeat(5000)) }).message).toHaveLength(
      'the service answered 500 '.length + 201,
    )
  })

  test('does not contain the key, not even a part of it where it was shortened', () => {
    const message = `The key ${KEY} does not exist`
    expect(refusal({ status: 401, body: error('AUTH_ERR_APIKEY_NOT_FOUND', message) }).message).toBe(
      'the key is not accepted; check api_key, and app_id and region, since a key belongs to one app (the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: The key ******** does not exist)',
    )
    const long = `${'x'.repeat(190)} ${KEY}`
    expect(refusal({ status: 401, body: error(undefined, long) }).message).not.toContain(KEY.slice(0, 5))
  })
})

test.each([
  ['7', 7],
  ['Fri, 20 Nov 2026 08:17:00 GMT', 90],
  ['Fri, 20 Nov 2026 08:15:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %j means to wait %j seconds, by the clock of the service', (value, seconds) => {
  for (const status of [429, 503]) {
    expect(refusal({ status, headers: { 'retry-after': value } }).retryAfter).toBe(seconds)
    expect(refusal({ status, headers: { 'retry-after': value }, body: error('X') }).retryAfter).toBe(seconds)
  }
})

test('reading an answer of any JSON and status throws nothing but a ServiceError', () => {
  const text = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .record({ error: fc.record({ code: fc.jsonValue(), message: fc.jsonValue() }) })
      .map((body) => JSON.stringify(body)),
  )
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), text, fc.string(), (status, body, retryAfter) => {
      try {
        const value = readAnswer({ status, headers: { 'retry-after': retryAfter }, body }, { now: NOW, apiKey: KEY })
        expect(typeof value).toBe('object')
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ServiceError)
      }
    }),
    { numRuns: runs(1000) },
  )
})

describe('an answer with JSON that is too complex', () => {
  const nested = (open: string, close: string, depth: number) => `{"data":${open.repeat(depth)}1${close.repeat(depth)}}`

  test.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['arrays after strings with closing brackets', String.raw`["]\"]",`, ']'],
  ])('is refused without being parsed: nested %s', (_case, open, close) => {
    const body = nested(open, close, 65) + ' '.repeat(256 * 1024)
    expect(read({ body: nested(open, close, 63) + ' '.repeat(256 * 1024) })).toHaveProperty('data')
    expect(refusal({ body })).toMatchObject({
      kind: 'invalid',
      message: `the service answered 200 with something that is neither a JSON object nor a list: ${body.length} characters, nested too deeply or with too many brackets or fields for calls`,
    })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    expect(() => JSON.parse(body) as unknown).not.toThrow()
  })

  test('is refused if it consists almost only of brackets', () => {
    const body = (pad: number) => `{"data":[${`{}${' '.repeat(pad)},`.repeat(100_000)}1]}`
    expect(read({ body: body(6) })).toHaveProperty('data')
    expect(refusal({ body: body(4) })).toMatchObject({ kind: 'invalid' })
  })

  test('is refused if one object has more than 10,000 fields, but not for many objects', () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, i) => `"${String(i).padStart(30, 'k')}":1`).join(',')
    const body = (count: number) => `{"data":[{${fields(9000)}},{${fields(count)}}]}`
    expect(read({ body: body(10_000) })).toHaveProperty('data')
    expect(refusal({ body: body(10_001) })).toMatchObject({ kind: 'invalid' })
  })

  test('keeps its kind if it is an error', () => {
    const headers = { 'retry-after': '20' }
    expect(refusal({ status: 429, headers, body: nested('[', ']', 300_000) })).toMatchObject({
      kind: 'rate_limited',
      retryAfter: 20,
    })
  })

  test('does not count brackets inside strings', () => {
    const texts = Array(1000).fill(String.raw`[[[[{{{{\"[[[[ \\`.repeat(20))
    const body = { data: [texts, [[[{ a: [{}] }]]], ...Array.from({ length: 10_000 }, () => [[]])] }
    expect(read({ body })).toEqual(body)
  })
})

test('an error message of millions of characters is shortened, without the key', () => {
  const body = error('ODD', `${' x'.repeat(60)} ${KEY} ${' x'.repeat(3e6)}`)
  const { message } = refusal({ status: 400, body })
  expect(message).toHaveLength('the service answered 400 '.length + 201)
  expect(message).toContain('********')
  expect(message).not.toContain(KEY)
})
