import { expect, test } from 'vitest'
import { createAuthToken } from '../../src/service/auth-token.ts'
import { answering, never, type Answer } from './fake-transport.ts'

const HOST = 1_790_000_000

function create(reply: Answer | Error, uid = 'alice') {
  const { transport, requests } = answering(reply)
  return { requests, token: createAuthToken(transport, { apiKey: 'k3y', uid, host: HOST, signal: never }) }
}

test('one request creates the token', async () => {
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

test('a token that comes bare is accepted', async () => {
  expect(await create({ body: { authToken: 't' } }).token).toBe('t')
})

test.each([
  ['a/b', '/users/a%2Fb/auth_tokens'],
  ['ü x', '/users/%C3%BC%20x/auth_tokens'],
])('the user %j is asked for at %s', async (uid, path) => {
  const { token, requests } = create({ body: { authToken: 't' } }, uid)
  await token
  expect(requests[0]!.path).toBe(path)
})

test.each([{}, { data: {} }, { data: { authToken: 7 } }, { data: { authToken: '' } }, { data: [] }])(
  'an answer of %j holds no token',
  async (body) => {
    await expect(create({ body }).token).rejects.toMatchObject({
      kind: 'invalid',
      message: 'the chat service answered without an `authToken`',
    })
  },
)

test('a refusal is told with the code of the service, without the key', async () => {
  const body = { error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message: 'unknown: k3y' } }
  await expect(create({ status: 401, body }).token).rejects.toMatchObject({
    kind: 'auth',
    message: 'the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: unknown: ********',
  })
})

test('a network that fails is told as such', async () => {
  const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  await expect(create(error).token).rejects.toMatchObject({ kind: 'network', cause: error })
})
