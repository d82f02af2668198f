import { describe, expect, test } from 'vitest'
import { serve, watchedTarget } from './serve.ts'

const AUTH = { username: 'ops', password: 'a long: password' }
const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})
const PATHS = ['/', '/page.js', '/metrics', '/api/v1/status', '/api/v1/calls', '/api/v1/alerts', '/api/v1/silences']

describe('with http.auth', () => {
  test.each(PATHS)('%s asks for the password, and is served to who has it', async (path) => {
    const { url } = await serve([watchedTarget()], [], AUTH)
    const refused = await fetch(url + path)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic realm="callwatch"/),
    ])
    expect((await fetch(url + path, { headers: basic(AUTH.username, AUTH.password) })).status).toBe(200)
  })

  test.each(['/healthz', '/readyz', '/readyz?verbose'])('%s asks for nothing', async (path) => {
    const { url } = await serve([watchedTarget()], [], AUTH)
    expect((await fetch(url + path)).status).toBe(200)
  })

  test.each([
    ['another name', 'root', AUTH.password],
    ['another password', AUTH.username, 'a long'],
    ['no password', AUTH.username, ''],
  ])('%s is refused', async (_what, username, password) => {
    const { url } = await serve([watchedTarget()], [], AUTH)
    expect((await fetch(`${url}/metrics`, { headers: basic(username, password) })).status).toBe(401)
  })

  test('a path that is not there asks for the password as well', async () => {
    const { url } = await serve([watchedTarget()], [], AUTH)
    expect((await fetch(`${url}/nothing`)).status).toBe(401)
  })
})

test('without it nobody is asked', async () => {
  const { url } = await serve([watchedTarget()])
  expect((await fetch(`${url}/api/v1/status`)).status).toBe(200)
})
