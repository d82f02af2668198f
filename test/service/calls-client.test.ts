import { describe, expect, test } from 'vitest'
import { callsClient, type CallsClient, type CallsClientOptions } from '../../src/service/calls-client.ts'
import type { TransportRequest } from '../../src/service/transport.ts'
import { answering, never, type Answer } from './answering.ts'

const HOST = Date.UTC(2026, 10, 20, 8, 0, 0) / 1000
const DATE = 'Fri, 20 Nov 2026 08:15:30 GMT'
const SERVICE = Date.parse(DATE) / 1000

const OPTIONS: CallsClientOptions = {
  apiKey: 'k3y',
  query: {},
  pageSize: 100,
  statusMap: { Busy: 'rejected' },
  wall: () => HOST,
  onUnknown: () => undefined,
}

function clientOf(reply: Answer | Error, options: Partial<CallsClientOptions> = {}) {
  const { transport, requests } = answering(reply)
  return { client: callsClient(transport, { ...OPTIONS, ...options }), requests }
}

const list = (client: CallsClient, page = 1) => client.listCalls(page, never)
const pathOf = ([request]: TransportRequest[]) => new URL(request!.path, 'http://service.test')

describe('a request', () => {
  test('has no body, asks for JSON and carries the key', async () => {
    const { client, requests } = clientOf({ body: { data: [] } })
    await list(client)
    expect(requests).toEqual([
      {
        method: 'GET',
        path: '/calls?page=1&perPage=100',
        headers: { accept: 'application/json', apikey: 'k3y' },
        signal: never,
      },
    ])
  })

  test('names the user on whose behalf it is made', async () => {
    const { client, requests } = clientOf({ body: { data: [] } }, { onBehalfOf: 'alice' })
    await list(client)
    expect(requests[0]!.headers).toEqual({ accept: 'application/json', apikey: 'k3y', onBehalfOf: 'alice' })
  })

  test('passes further parameters on, encoded, and never lets them page', async () => {
    const query = { mode: 'call', uid: 'a&b=c ü', page: '9', perPage: '1' }
    const { client, requests } = clientOf({ body: { data: [] } }, { query })
    await list(client, 3)
    expect(Object.fromEntries(pathOf(requests).searchParams)).toEqual({
      mode: 'call',
      uid: 'a&b=c ü',
      page: '3',
      perPage: '100',
    })
  })

  test.each([
    ['v1.us.31.17', '/calls/v1.us.31.17'],
    ['a/b', '/calls/a%2Fb'],
    ['../calls', '/calls/..%2Fcalls'],
    ['a b?c#d', '/calls/a%20b%3Fc%23d'],
    ['ü😀', '/calls/%C3%BC%F0%9F%98%80'],
    ['100%', '/calls/100%25'],
  ])('for the session %j goes to %s', async (id, path) => {
    const { client, requests } = clientOf({ body: { data: { sessionId: id, status: 'ended' } } })
    expect((await client.getCall(id, never)).call?.id).toBe(id)
    expect(requests.map((request) => request.path)).toEqual([path])
  })
})

describe('a page of List Calls', () => {
  test('holds its usable calls, and the others by reason', async () => {
    const data = [{ sessionId: 1, status: 'BUSY' }, { sessionId: 'b' }, 'c', null, { status: 'ended' }]
    const { client } = clientOf({ body: { data, meta: { pagination: { total: 7, total_pages: 2 } } } })
    expect(await list(client, 2)).toMatchObject({
      page: 2,
      calls: [{ id: '1', status: 'rejected' }],
      rejected: { no_status: 1, not_an_object: 2, no_session_id: 1 },
      items: 5,
      total: 7,
      totalPages: 2,
    })
  })

  test('tells its items apart by session id, usable or not, and by all that they hold where there is none', async () => {
    const data = [{ sessionId: 17, status: 'ended' }, { sessionId: 'b' }, { sessionId: '' }, null, 'c', null]
    const { keys } = await list(clientOf({ body: { data } }).client)
    expect(keys).toEqual(['17', 'b', '{"sessionId":""} 0', 'null 0', '"c" 0', 'null 1'])
  })

  test('goes by the clock of the service, for times of calls too, and keeps the clock of the host beside it', async () => {
    const data = [
      { sessionId: 'a', status: 'ended', endedAt: SERVICE + 86_400 },
      { sessionId: 'b', status: 'ended', endedAt: SERVICE + 86_401 },
    ]
    const { client } = clientOf({ headers: { date: DATE }, body: { data } })
    expect(await list(client)).toMatchObject({
      now: SERVICE,
      host: HOST,
      calls: [{ endedAt: SERVICE + 86_400 }, { endedAt: undefined }],
    })
  })

  test('goes by the clock of the host where the service shows none', async () => {
    expect(await list(clientOf({ body: { data: [] } }).client)).toMatchObject({ now: HOST, host: HOST })
  })

  test('says how many requests are left', async () => {
    const page = await list(clientOf({ headers: { 'x-ratelimit-remaining': '41' }, body: { data: [] } }).client)
    expect(page.remaining).toBe(41)
  })

  test.each([
    [{ total: '250', count: '100', current_page: '1', total_pages: '3' }, 250, 3],
    [{ total: 0, total_pages: 0 }, 0, 0],
    [{ total: -1, total_pages: 1.5 }, undefined, undefined],
    [{ total: null, total_pages: '' }, undefined, undefined],
    [{ total: 'many', total_pages: true }, undefined, undefined],
    [{}, undefined, undefined],
    [[], undefined, undefined],
    ['none', undefined, undefined],
  ])('with the pagination %j has the total %j and %j pages', async (pagination, total, totalPages) => {
    const { client } = clientOf({ body: { data: [], meta: { pagination } } })
    expect(await list(client)).toMatchObject({ total, totalPages })
  })

  test.each([undefined, null, [], 'none'])('with the meta %j has neither total nor pages', async (meta) => {
    const { client } = clientOf({ body: { data: [], meta } })
    expect(await list(client)).toMatchObject({ total: undefined, totalPages: undefined, items: 0 })
  })

  test.each([{}, { data: null }, { data: {} }, { calls: [] }, { error: 'odd' }])('that is %j is none', async (body) => {
    await expect(list(clientOf({ body }).client)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'the service answered List Calls without a `data` array',
    })
  })

  test('tells unknown values as they came', async () => {
    const told: string[][] = []
    const { client } = clientOf(
      { body: { data: [{ sessionId: 's', status: 'Paused', type: 'hologram' }] } },
      { onUnknown: (...pair) => void told.push(pair) },
    )
    await list(client)
    expect(told).toEqual([
      ['status', 'Paused'],
      ['type', 'hologram'],
    ])
  })
})

describe('Get Call', () => {
  const call = { sessionId: 's', status: 'ongoing', type: 'video' }

  test.each([
    ['wrapped', { data: call }],
    ['bare', call],
    ['bare, with a `data` that is no object', { ...call, data: null }],
    ['without its session id', { data: { status: 'ongoing', type: 'video' } }],
  ])('accepts a call that comes %s', async (_case, body) => {
    const { client } = clientOf({ headers: { date: DATE }, body })
    expect(await client.getCall('s', never)).toMatchObject({
      now: SERVICE,
      host: HOST,
      call: { id: 's', status: 'ongoing', type: 'video' },
    })
  })

  test('takes an id that comes as a number for its text', async () => {
    const { client } = clientOf({ body: { data: { ...call, sessionId: 17 } } })
    expect((await client.getCall('17', never)).call?.id).toBe('17')
  })

  test('refuses the answer when it shows another session', async () => {
    const { client } = clientOf({ body: { data: { ...call, sessionId: 't' } } })
    await expect(client.getCall('s', never)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'the service answered Get Call with another call than was asked for',
    })
  })

  test.each([{}, { data: [] }, { data: { sessionId: 's' } }, { message: 'hello' }])(
    'has no call where the answer is %j',
    async (body) => {
      expect(await clientOf({ body }).client.getCall('s', never)).toMatchObject({ call: undefined, now: HOST })
    },
  )

  test('rejects with `not_found`, and when that was, for an unknown session', async () => {
    const body = { error: { code: 'ERR_CALL_SESSION_NOT_FOUND', message: 'no such session' } }
    const { client } = clientOf({ status: 404, headers: { date: DATE }, body })
    await expect(client.getCall('s', never)).rejects.toMatchObject({ kind: 'not_found', status: 404, now: SERVICE })
  })
})

describe('a request that comes to nothing', () => {
  test('is told as what kept the network from it', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { client } = clientOf(refused)
    const expected = { name: 'ServiceError', kind: 'network', cause: refused }
    await expect(list(client)).rejects.toMatchObject(expected)
    await expect(client.getCall('s', never)).rejects.toMatchObject(expected)
  })

  test('counts a Retry-After that is a date from the clock of the service', async () => {
    const headers = { date: DATE, 'retry-after': 'Fri, 20 Nov 2026 08:15:50 GMT' }
    await expect(list(clientOf({ status: 429, headers }).client)).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAfter: 20,
    })
  })

  test('does not tell the key, even when the service quotes it', async () => {
    const body = { error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message: 'unknown key k3y' } }
    await expect(list(clientOf({ status: 401, body }).client)).rejects.toMatchObject({
      message: 'the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: unknown key ********',
    })
  })
})
