import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyFolder } from '../../kit/commands/callwatch.ts'
import { replayed } from '../../unit/simulator/replayed.ts'

type Answer = { path: string; status?: number; headers?: Record<string, string>; body?: unknown }

function recording(...answers: Answer[]): string {
  const file = join(emptyFolder(), 'recording.json')
  const whole = answers.map((answer) => ({ status: 200, headers: {}, body: {}, ...answer }))
  writeFileSync(file, JSON.stringify({ answers: whole }))
  return file
}

test('a replayed recording answers each request as recorded, with its status, headers and body', async () => {
  const headers = { date: 'Sun, 27 Dec 2020 06:03:12 GMT', 'retry-after': '7', 'content-encoding': 'gzip' }
  const path = '/calls/a%20b%2Fc'
  const url = await replayed(recording({ path, status: 429, headers, body: { error: { code: 'ERR' } } }))
  const response = await fetch(`${url}${path}`)
  expect(response.status).toBe(429)
  expect(Object.fromEntries(response.headers)).toMatchObject(headers)
  expect(await response.json()).toEqual({ error: { code: 'ERR' } })
})

test('it sends no headers that were not recorded', async () => {
  const url = await replayed(recording({ path: '/calls?page=1&perPage=1', body: '<h1>x</h1>' }))
  const response = await fetch(`${url}/calls?page=1&perPage=1`)
  expect([response.headers.get('date'), response.headers.get('content-type')]).toEqual([null, null])
  expect(await response.text()).toBe('<h1>x</h1>')
})

test('it gives several answers to one request in turn, and the last one again', async () => {
  const path = '/calls?page=1&perPage=1'
  const url = await replayed(recording({ path, body: 1 }, { path: '/calls/a', body: 7 }, { path, body: 2 }))
  const bodies = []
  for (let i = 0; i < 4; i++) bodies.push(await (await fetch(url + path)).json())
  expect(bodies).toEqual([1, 2, 2, 2])
})

test.each([
  ['GET', '/calls?page=2&perPage=1'],
  ['GET', '/calls/b'],
  ['POST', '/calls?page=1&perPage=1'],
])('it answers %s %s, which was not recorded, as the service answers an unknown path', async (method, path) => {
  const url = await replayed(recording({ path: '/calls?page=1&perPage=1' }))
  const response = await fetch(url + path, { method })
  expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'ERR_API_NOT_FOUND' } }])
})
