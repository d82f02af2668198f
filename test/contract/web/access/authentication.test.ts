import { describe, expect, test } from 'vitest'
import { AUTH, basic, serve, shownTarget } from '../../../kit/web/serve.ts'

const API = ['state', 'calls', 'alerts?since=1h', 'report?since=1h'].map((name) => `/api/v1/${name}`)

describe('with http.auth', () => {
  test.each(['/', '/icon.svg', '/metrics', ...API, '/nothing'])('%s needs user name and password', async (path) => {
    const { url } = await serve([shownTarget()], { auth: AUTH })
    const refused = await fetch(url + path)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic realm="callwatch"/),
    ])
    expect((await fetch(url + path, { headers: basic() })).status).toBe(path === '/nothing' ? 404 : 200)
  })

  test.each(['/healthz', '/readyz', '/readyz?verbose'])('%s needs no password', async (path) => {
    const { url } = await serve([shownTarget()], { auth: AUTH })
    expect((await fetch(url + path)).status).toBe(200)
  })

  test.each([
    ['another user name', { username: 'root' }],
    ['another password', { password: 'a long' }],
    ['an empty password', { password: '' }],
  ])('the server refuses %s', async (_what, differing) => {
    const { url } = await serve([shownTarget()], { auth: AUTH })
    expect((await fetch(`${url}/metrics`, { headers: basic({ ...AUTH, ...differing }) })).status).toBe(401)
  })
})

test('without http.auth the API needs no password', async () => {
  const { url } = await serve([shownTarget()])
  expect((await fetch(`${url}/api/v1/state`)).status).toBe(200)
})
