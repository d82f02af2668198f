import { expect, test } from 'vitest'
import { createAuthToken } from '../../../src/service/auth-token.ts'
import { fakeTransport, never, type Reply } from './fake-transport.ts'

const HOST = 1_790_000_000

function create(reply: Reply | Error, uid = 'alice') {
  const { transport, requests } = fakeTransport(reply)
  return { requests, token: createAuthToken(transport, { apiKey: 'k3y', uid, hostTime: HOST, signal: never }) }
}

test('one request creates an auth token', async () => {
  const { token, requests } = create({ body: { data: { uid: 'alice', authToken: 'alice_17' } } })
  expect(await token).toBe('alice_17')
  expect(requests).toEqual([
    {
      method: 'POST',
      path: '/users/alice/auth_tokens',
      headers: { accept: 'application/json', 'content-type': 'application/json', apikey: 'k3y' },
      body: '{}',
      signal: never,
    },
  ])
})

test('an auth token without a `data` envelope is accepted', async () => {
  expect(await create({ body: { authToken: 't' } }).token).toBe('t')
})

test.each([
  ['a/b', '/users/a%2Fb/auth_tokens'],
  ['ü x', '/users/%C3%BC%20x/auth_tokens'],
])('the auth token of the user %j is requested at %s', async (uid, path) => {
  const { token, requests } = create({ body: { authToken: 't' } }, uid)
  await token
  expect(requests[0]!.path).toBe(path)
})

test.each([{}, { data: {} }, { data: { authToken: 7 } }, { data: { authToken: '' } }, { data: [] }])(
  'an answer of %j has no auth token',
  async (body) => {
    await expect(create({ body }).token).rejects.toMatchObject({
      kind: 'invalid',
      message: 'the chat service answered without an `authToken`',
    })
  },
)

test('a refused auth token is reported with the code of the service, without the key', async () => {
  const body = { error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message: 'unknown: k3y' } }
  await expect(create({ status: 401, body }).token).rejects.toMatchObject({
    kind: 'auth',
    message:
      'the key is not accepted; check api_key, and app_id and region, since a key belongs to one app (the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: unknown: ********)',
  })
})

test('a network error while creating an auth token is reported as such', async () => {
  const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  await expect(create(error).token).rejects.toMatchObject({ kind: 'network', cause: error })
})
