import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Call } from '../../../src/simulator/calls/call.ts'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { START } from '../../kit/world/request-service.ts'

type Answer = { status: number; headers: Headers; body: { data: Call[]; meta: { pagination: Pagination } } }
type Pagination = { total: number; count: number; per_page: number; current_page: number; total_pages: number }

let simulator: Simulator
let now = START

beforeAll(async () => {
  simulator = await startSimulator({
    clock: () => now,
    history: 260,
    historySeconds: 40_000,
    callsPerMinute: 0,
    open: 3,
    apiKey: 'right',
    switches: { perPage: 1000 },
  })
})

afterAll(() => simulator.close())

async function ask(
  path: string,
  headers: Record<string, string> = { apikey: 'right' },
  method = 'GET',
): Promise<Answer> {
  const response = await fetch(simulator.url + path, { method, headers })
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
}

async function everyCall(): Promise<Call[]> {
  return (await ask('/calls?perPage=1000')).body.data
}

describe('List Calls', () => {
  test('gives 30 calls a page, newest first, with the pagination', async () => {
    const { status, body } = await ask('/calls')
    expect(status).toBe(200)
    expect(body.data).toHaveLength(30)
    expect(body.meta.pagination).toEqual({ total: 263, count: 30, current_page: 1, total_pages: 9 })
    const times = body.data.map((call) => call.initiatedAt!)
    expect(times).toEqual(times.toSorted((a, b) => b - a))
  })

  test('gives every call once over its pages, and none past the last', async () => {
    const ids: string[] = []
    for (let page = 1; page <= 4; page++) {
      const { body } = await ask(`/calls?page=${page}&perPage=75`)
      ids.push(...body.data.map((call) => call.sessionId))
      expect(body.meta.pagination).toMatchObject({ current_page: page, total_pages: 4 })
    }
    expect(new Set(ids).size).toBe(263)
    expect(ids).toHaveLength(263)
    const past = await ask('/calls?page=5&perPage=75')
    expect(past.body).toMatchObject({ data: [], meta: { pagination: { total: 263, count: 0 } } })
  })

  test('gives at most 100 calls a page, or another number', async () => {
    simulator.setSwitches({ perPage: 'honoured' })
    expect((await ask('/calls?perPage=5000')).body.data).toHaveLength(100)
    simulator.setSwitches({ perPage: 1000 })
    expect((await ask('/calls?perPage=5000')).body.data).toHaveLength(263)
  })

  test.each(['page=0', 'page=x', 'perPage=0', 'perPage=1.5'])('refuses %s', async (query) => {
    expect(await ask(`/calls?${query}`)).toMatchObject({ status: 400, body: { error: { code: 'ERR_BAD_REQUEST' } } })
  })

  test('has a Date header of the moment that it shows', async () => {
    const { headers } = await ask('/calls')
    expect(headers.get('date')).toBe(new Date(START * 1000).toUTCString())
  })
})

test('a recording has its duration in seconds', async () => {
  const recordings = (await everyCall()).flatMap((call) => call.recordings ?? [])
  expect(recordings.length).toBeGreaterThan(5)
  for (const { duration, startTime, endTime } of recordings)
    expect(Math.abs(duration - (endTime - startTime))).toBeLessThanOrEqual(1)
})

describe('Get Call', () => {
  test('gives each call within data, by its percent-encoded id', async () => {
    const all = await everyCall()
    for (const mode of ['call', 'meet', 'presenter']) {
      const call = all.find((each) => each.mode === mode)!
      const { status, body } = await ask(`/calls/${encodeURIComponent(call.sessionId)}`)
      expect({ status, body }).toEqual({ status: 200, body: { data: call } })
    }
  })

  test('does not know a call that does not exist', async () => {
    expect(await ask('/calls/nothing')).toMatchObject({
      status: 404,
      body: { error: { code: 'ERR_CALL_SESSION_NOT_FOUND' } },
    })
  })
})

describe('the key of a request', () => {
  test.each([
    ['that is missing', {}, 401, 'AUTH_ERR_EMPTY_APIKEY'],
    ['that is empty', { apikey: '' }, 401, 'AUTH_ERR_EMPTY_APIKEY'],
    ['that is wrong', { apikey: 'wrong' }, 401, 'AUTH_ERR_APIKEY_NOT_FOUND'],
    ['of the scope authOnly', { apikey: 'simulator-auth-only' }, 403, 'AUTH_ERR_NO_ACCESS'],
  ])('%s is refused', async (_which, headers, status, code) => {
    for (const path of ['/calls', '/calls/any']) {
      expect(await ask(path, headers)).toMatchObject({ status, body: { error: { code, message: expect.any(String) } } })
    }
  })

  test('of either scope creates auth tokens', async () => {
    for (const apikey of [simulator.keys.fullAccess, simulator.keys.authOnly]) {
      const answer = await ask('/users/some%20one/auth_tokens', { apikey }, 'POST')
      expect(answer).toMatchObject({
        status: 200,
        body: {
          data: { uid: 'some one', authToken: expect.stringMatching(/^some one_[0-9a-f]{40}$/), createdAt: START },
        },
      })
    }
    expect((await ask('/users/some%20one/auth_tokens', {}, 'POST')).status).toBe(401)
  })
})

test('usage metrics are the minutes of the participants of a period, whose times are in milliseconds', async () => {
  const calls = await everyCall()
  const ended = calls.flatMap(({ endedAt = NaN }) => (Number.isNaN(endedAt) ? [] : endedAt)).toSorted((a, b) => a - b)
  const [from, to] = [ended[20]!, ended[200]!]
  const minutes = calls
    .filter(({ endedAt = NaN }) => endedAt >= from && endedAt < to)
    .flatMap(({ participants }) => participants)
    .reduce((sum, one) => sum + one.totalAudioMinutes, 0)
  expect(minutes).toBeGreaterThan(0)
  const { body } = await ask(`/stats?fromDate=${from * 1000}&toDate=${to * 1000}`)
  expect(body.data).toMatchObject({ metrics: { audio_minutes: expect.closeTo(minutes, 6), recorded_minutes: 0 } })
  expect((await ask(`/stats?fromDate=${from}&toDate=${to}`)).body.data).toMatchObject({
    metrics: { audio_minutes: 0, video_minutes: 0 },
  })
  expect((await ask('/stats')).status).toBe(400)
})

test('an unknown operation is not found', async () => {
  for (const [path, method] of [
    ['/rooms', 'GET'],
    ['/calls', 'POST'],
    ['/calls/a/b', 'GET'],
  ] as const) {
    expect(await ask(path, { apikey: 'right' }, method)).toMatchObject({
      status: 404,
      body: { error: { code: 'ERR_API_NOT_FOUND' } },
    })
  }
})

test('above its limit the service answers 429 until a minute has passed', async () => {
  const limited = await startSimulator({ clock: () => now, requestsPerMinute: 3, history: 5 })
  const list = () => fetch(`${limited.url}/calls`, { headers: { apikey: limited.keys.fullAccess } })
  const remaining: (string | null)[] = []
  for (let i = 0; i < 3; i++) {
    const answer = await list()
    expect(answer.status).toBe(200)
    remaining.push(answer.headers.get('x-ratelimit-remaining'))
    now += 10
  }
  expect(remaining).toEqual(['2', '1', '0'])
  const refused = await list()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(refused.headers.get('x-ratelimit-limit')).toBe('3')
  expect(await refused.json()).toMatchObject({ error: { code: 'ERR_TOO_MANY_REQUESTS' } })
  now += 29
  expect((await list()).status).toBe(429)
  now += 1
  expect((await list()).status).toBe(200)
  await limited.close()
})

test.each([
  ['X-RateLimit', ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
  ['X-Rate-Limit', ['x-rate-limit', 'x-rate-limit-remaining', 'x-rate-limit-reset']],
  ['absent', []],
] as const)('the headers of the limit are called %s', async (rateLimitHeaders, expected) => {
  const limited = await startSimulator({ clock: () => START, requestsPerMinute: 1, switches: { rateLimitHeaders } })
  for (const status of [200, 429]) {
    const answer = await fetch(`${limited.url}/calls`, { headers: { apikey: limited.keys.fullAccess } })
    expect(answer.status).toBe(status)
    expect([...answer.headers.keys()].filter((name) => /limit|remaining|reset/.test(name))).toEqual(expected)
  }
  await limited.close()
})
