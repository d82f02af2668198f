import { expect, test } from 'vitest'
import { serve, watchedTarget } from './serve.ts'

const AUTH = { username: 'ops', password: 'secret' }
const headers = {
  authorization: `Basic ${Buffer.from('ops:secret').toString('base64')}`,
  'content-type': 'application/json',
}

async function silencing(auth?: typeof AUTH) {
  const { url } = await serve([watchedTarget()], [], auth)
  const path = `${url}/api/v1/silences`
  return {
    add: (body: unknown) => fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }),
    end: (id: unknown) =>
      fetch(`${path}/${String(id)}`, { method: 'DELETE', headers: { authorization: headers.authorization } }),
    list: async () => (await fetch(path, { headers })).json(),
  }
}

const problemOf = async (answer: Response): Promise<unknown> => JSON.parse(await answer.text()).error

test('a silence is added, listed and ended', async () => {
  const { add, list, end } = await silencing(AUTH)
  const added = await add({ match: { alert: 'NoCalls' }, seconds: 7200, reason: 'maintenance' })
  const silence = {
    id: 1,
    match: { alert: 'NoCalls' },
    since: '2026-09-21T14:13:20.000Z',
    until: '2026-09-21T16:13:20.000Z',
    reason: 'maintenance',
  }
  expect([added.status, await added.json()]).toEqual([201, silence])
  expect(await list()).toEqual({ silences: [silence] })
  expect((await end(1)).status).toBe(204)
  expect(await list()).toEqual({ silences: [] })
})

test.each([
  [{}, /seconds/],
  [{ seconds: 0 }, /seconds/],
  [{ seconds: 1e12 }, /seconds/],
  [{ seconds: 60, match: { uid: 'x' } }, /uid/],
  [{ seconds: 60, until: 1 }, /until/],
])('what is no silence is refused: %j', async (body, problem) => {
  const { add, list } = await silencing(AUTH)
  const answer = await add(body)
  expect([answer.status, await problemOf(answer)]).toEqual([400, expect.stringMatching(problem)])
  expect(await list()).toEqual({ silences: [] })
})

test.each([7, 'x', '1e3'])('a silence that is not there cannot be ended: %s', async (id) => {
  const answer = await (await silencing(AUTH)).end(id)
  expect([answer.status, await problemOf(answer)]).toEqual([404, `there is no silence ${id}`])
})

test('without http.auth nobody can keep alerts from being told', async () => {
  const { add, end, list } = await silencing()
  for (const answer of [await add({ seconds: 60 }), await end(1)]) {
    expect([answer.status, await problemOf(answer)]).toEqual([403, expect.stringContaining('http.auth')])
  }
  expect(await list()).toEqual({ silences: [] })
})
