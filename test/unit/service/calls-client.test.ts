import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callsClient, type CallsClient, type CallsClientOptions } from '../../../src/service/calls-client.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import type { TransportRequest } from '../../../src/service/transport.ts'
import { answer, fakeTransport, never, type Reply } from './fake-transport.ts'
import { runs } from '../../kit/runs.ts'

const HOST = Date.UTC(2026, 10, 20, 8, 0, 0) / 1000
const DATE = 'Fri, 20 Nov 2026 08:15:30 GMT'
const SERVICE = Date.parse(DATE) / 1000

const OPTIONS: CallsClientOptions = {
  apiKey: 'k3y',
  query: {},
  pageSize: 100,
  statusMap: { busy: 'rejected' },
  wall: () => HOST,
  onUnknown: () => undefined,
}

function clientOf(reply: Reply | Error, options: Partial<CallsClientOptions> = {}) {
  const { transport, requests } = fakeTransport(reply)
  return { client: callsClient(transport, { ...OPTIONS, ...options }), requests }
}

const list = (client: CallsClient, page = 1) => client.listCalls(page, never)
const pathOf = ([request]: TransportRequest[]) => new URL(request!.path, 'http://service.test')

test.each(['.', '..'])('a call with the id %s is not requested, because that would be another path', async (id) => {
  const { client, requests } = clientOf({ body: {} })
  await expect(client.getCall(id, never)).rejects.toMatchObject({ kind: 'refused' })
  expect(requests).toEqual([])
})

describe('a request of the calls client', () => {
  test('has no body, accepts JSON and has the key', async () => {
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

  test('passes on further parameters, encoded, except for the page', async () => {
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
    ["meet:a@b!$&'()*+,;=", "/calls/meet:a@b!$&'()*+,;="],
  ])('for the session %j is sent to %s', async (id, path) => {
    const { client, requests } = clientOf({ body: { data: { sessionId: id, status: 'ended' } } })
    expect((await client.getCall(id, never)).calls[0]?.id).toBe(id)
    expect(requests.map((request) => request.path)).toEqual([path])
  })
})

describe('a page of List Calls', () => {
  test('has its valid calls, and the number of invalid items by reason', async () => {
    const data = [{ sessionId: 1, status: 'BUSY' }, { sessionId: 'b' }, 'c', null, { status: 'ended' }]
    const { client } = clientOf({ body: { data, meta: { pagination: { total: 7, total_pages: 2 } } } })
    expect(await list(client, 2)).toMatchObject({
      page: 2,
      calls: [{ id: '1', status: 'rejected' }],
      invalid: { no_status: 1, not_an_object: 2, no_session_id: 1 },
      items: 5,
      total: 7,
      totalPages: 2,
    })
  })

  test('has a key for each item: its session id, or a digest of an item without one', async () => {
    const data = [{ sessionId: 17, status: 'ended' }, { sessionId: 'b' }, { sessionId: '' }, null, 'c', null]
    const { keys } = await list(clientOf({ body: { data } }).client)
    expect(keys.slice(0, 2)).toEqual(['17', 'b'])
    expect(new Set(keys).size).toBe(6)
    const turned = await list(clientOf({ body: { data: data.toReversed() } }).client)
    expect(turned.keys.toSorted()).toEqual(keys.toSorted())
  })

  test('has a short key for an item without an id, however large it is', async () => {
    const data = ['x'.repeat(1e6), { a: 'y'.repeat(1e6) }]
    const { keys } = await list(clientOf({ body: { data } }).client)
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(60)
  })

  test.each([
    [100, 5000, 5001],
    [1000, 10_000, 10_001],
  ])('of size %i has up to %i items', async (pageSize, most, tooMany) => {
    const client = (items: number) => clientOf({ body: { data: Array(items).fill(1) } }, { pageSize }).client
    expect((await list(client(most))).items).toBe(most)
    await expect(list(client(tooMany))).rejects.toMatchObject({
      kind: 'invalid',
      message: `the service answered List Calls with ${tooMany} items on one page, where ${pageSize} calls were requested; callwatch reads at most ${most}`,
    })
  })

  test.each([
    [1, 50_000],
    [100, 50_000],
    [1000, 500_000],
  ])('of size %i has up to ten times the participants of so many calls', async (pageSize, most) => {
    const participants = (count: number) => Array.from({ length: count }, () => ({ uid: 'u' }))
    const item = (count: number) => ({ sessionId: 's', status: 'ended', participants: participants(count) })
    const client = (count: number) => {
      const data = [...Array.from({ length: 10 }, () => item(most / 10)), item(count)]
      return clientOf({ body: { data } }, { pageSize }).client
    }
    expect((await list(client(0))).items).toBe(11)
    await expect(list(client(1))).rejects.toMatchObject({
      kind: 'invalid',
      message: `the service answered List Calls with ${most + 1} participants on one page, where ${pageSize} calls were requested; callwatch reads at most ${most}`,
    })
  })

  test.each([
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['12345678901234567890', '12345678901234567890'],
    ['9'.repeat(30), '9'.repeat(30)],
    ['9007199254740991', '9007199254740991'],
    ['17', '17'],
    ['1.0', '1'],
    ['1e3', '1000'],
    ['1.5', '1.5'],
    ['12345678901234567890.0', '12345678901234567000'],
    ['12345678901234567890e0', '12345678901234567000'],
    ['1e20', '100000000000000000000'],
  ])('reads the id %s, written as a number, as the text %s', async (literal, id) => {
    const body = `{ "data": [{ "status": "ended", "sessionId" :\n ${literal} }] }`
    const page = await list(clientOf({ body }).client)
    expect({ ids: page.calls.map((call) => call.id), keys: page.keys }).toEqual({ ids: [id], keys: [id] })
  })

  test('has no id if it is a number of millions of digits', async () => {
    const { client } = clientOf({ body: `{"data":[{"sessionId":${'9'.repeat(6e6)}.,"status":"ended"}]}` })
    await expect(list(client)).rejects.toMatchObject({ kind: 'invalid' })
    const long = clientOf({ body: `{"data":[{"sessionId":${'9'.repeat(6e6)},"status":"ended"}]}` })
    expect((await list(long.client)).invalid).toEqual({ no_session_id: 1 })
  })

  test('distinguishes ids beyond 2^53 that are written as numbers', async () => {
    const items = ['9007199254740992', '9007199254740993'].map((id) => `{"sessionId":${id},"status":"ended"}`)
    const page = await list(clientOf({ body: `{"data":[${items.join(',')}]}` }).client)
    expect(page.calls.map(({ id }) => id)).toEqual(['9007199254740992', '9007199254740993'])
  })

  test('does not read a number inside a string as an id', async () => {
    const id = '"sessionId": 9007199254740993'
    const item = { sessionId: id, status: 'ended', [id]: 1, 'x"sessionId': 'y' }
    const text = JSON.stringify({ data: [item] }).replace('"y"', '9007199254740993')
    expect((await list(clientOf({ body: text }).client)).calls.map((call) => call.id)).toEqual([id])
  })

  test.each(['09007199254740993', '9007199254740993x', '+9007199254740993'])(
    'is invalid with the id %s, which is not JSON',
    async (literal) => {
      const { client } = clientOf({ body: `{"data":[{"sessionId":${literal},"status":"ended"}]}` })
      await expect(list(client)).rejects.toMatchObject({ kind: 'invalid' })
    },
  )

  test('has the clock of the service, which also limits the times of calls, and that of the host', async () => {
    const data = [
      { sessionId: 'a', status: 'ended', endedAt: SERVICE + 86_400 },
      { sessionId: 'b', status: 'ended', endedAt: SERVICE + 86_401 },
    ]
    const { client } = clientOf({ headers: { date: DATE }, body: { data } })
    expect(await list(client)).toMatchObject({
      serviceTime: SERVICE,
      hostTime: HOST,
      calls: [{ endedAt: SERVICE + 86_400 }, { endedAt: undefined }],
    })
  })

  test('has the clock of the host if the service sends no Date', async () => {
    expect(await list(clientOf({ body: { data: [] } }).client)).toMatchObject({ serviceTime: HOST, hostTime: HOST })
  })

  test.each([
    // The plain sum is a fraction of a microsecond more.
    [1_790_000_201.009, 1_790_000_030 - 1_790_000_000.827, 1_790_000_230.182],
    [1_790_000_201.0004, 0, 1_790_000_201],
    [1_790_000_201.0006, -3600, 1_789_996_601.001],
  ])(
    'has whole milliseconds, as evaluations have, if the service sends no Date, at %d by the host and %d s ahead',
    async (wall, skew, serviceTime) => {
      const { client } = clientOf({ body: { data: [] } }, { wall: () => wall, clockSkew: () => skew })
      expect((await list(client)).serviceTime).toBe(serviceTime)
    },
  )

  test('has the number of requests left', async () => {
    const page = await list(clientOf({ headers: { 'x-ratelimit-remaining': '41' }, body: { data: [] } }).client)
    expect(page.limit?.remaining).toBe(41)
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

  test('is an empty list if it has none', async () => {
    const { client, requests } = clientOf({ body: { data: [] } })
    expect(await list(client)).toMatchObject({ items: 0, calls: [], total: undefined })
    expect(requests).toHaveLength(1)
  })

  describe.each([
    ['404', { status: 404, body: '' }, 'refused'],
    ['204', { status: 204, body: '' }, 'invalid'],
    ['null instead of a list', { body: { data: null, meta: {} } }, 'invalid'],
    ['an object instead of a list', { body: { data: {} } }, 'invalid'],
  ] as const)('with %s', (_what, none, kind) => {
    const unknownCall = {
      status: 404,
      body: { error: { code: 'ERR_CALL_SESSION_NOT_FOUND', message: 'no such call' } },
    }
    /** List Calls has no list, and Get Call answers as given. */
    function clientOfNone(get: Reply, page: Reply = none) {
      const requested: string[] = []
      const client = callsClient(async ({ path }) => {
        requested.push(path)
        return answer({ headers: { date: DATE }, ...(path.startsWith('/calls?') ? page : get) })
      }, OPTIONS)
      return { client, requested }
    }

    test('is an empty list if the service says that it knows no such call, which is asked once', async () => {
      const { client, requested } = clientOfNone(unknownCall)
      for (let poll = 0; poll < 3; poll++)
        expect(await list(client)).toMatchObject({ items: 0, total: undefined, serviceTime: SERVICE, hostTime: HOST })
      expect(requested.filter((path) => path.startsWith('/calls/'))).toHaveLength(1)
    })

    test.each([[{ data: [] }], [[]], [{ data: null }], [{ data: {} }]])(
      'is an empty list if an unknown session is answered with %j',
      async (body) => {
        expect(await list(clientOfNone({ body }).client)).toMatchObject({ items: 0 })
      },
    )

    test.each([
      ['there is no such address', 1, { status: 404 }],
      ['Get Call answers with a call', 1, { body: { data: { sessionId: 'a', status: 'ended' } } }],
      ['Get Call answers with something else', 1, { body: { message: 'hello' } }],
      ['it is not the first page', 2, unknownCall],
    ])('is an error where %s', async (_what2, page, get) => {
      await expect(list(clientOfNone(get).client, page)).rejects.toMatchObject({ kind })
    })
  })

  test.each(['ERR_UID_NOT_FOUND', 'ERR_PLAN_RESTRICTION', 'ERR_SUBSCRIPTION_EXPIRED', 'AUTH_ERR_INVALID_APPID'])(
    'with 404 and %s is an error, also after the service was known',
    async (code) => {
      let page: Reply = { status: 404 }
      const unknownCall = { status: 404, body: { error: { code: 'ERR_CALL_SESSION_NOT_FOUND' } } }
      const client = callsClient(async ({ path }) => answer(path.startsWith('/calls?') ? page : unknownCall), OPTIONS)
      expect(await list(client)).toMatchObject({ items: 0 })
      page = { status: 404, body: { error: { code, message: 'no' } } }
      await expect(list(client)).rejects.toMatchObject({ status: 404 })
    },
  )

  test.each([{}, { data: { a: 1 } }, { data: null, code: 401 }, { data: 'none' }, { calls: [] }, { error: 'odd' }])(
    'is invalid if the answer is %j',
    async (body) => {
      await expect(list(clientOf({ body }).client)).rejects.toMatchObject({
        kind: 'invalid',
        message: 'the service answered List Calls without a `data` array',
      })
    },
  )

  test('reports undocumented values unchanged', async () => {
    const reported: string[][] = []
    const { client } = clientOf(
      { body: { data: [{ sessionId: 's', status: 'Paused', type: 'hologram' }] } },
      { onUnknown: (...pair) => void reported.push(pair) },
    )
    await list(client)
    expect(reported).toEqual([
      ['status', 'Paused'],
      ['type', 'hologram'],
    ])
  })
})

describe('Get Call', () => {
  const call = { sessionId: 's', status: 'ongoing', type: 'video' }

  const entities = { initiator: { entity: { uid: 'u', name: 'Robin', status: 'available' } } }
  test.each([
    ['wrapped', { data: call }],
    ['wrapped, with people below it', { data: { ...call, data: { entities } } }],
    ['bare', call],
    ['bare, with a `data` that is no object', { ...call, data: null }],
    ['bare, with people below it', { ...call, data: { entities } }],
    ['bare, with a `data` that is an empty list', { ...call, data: [] }],
    ['in a list', { data: [call], meta: {} }],
    ['in a bare list', [call]],
    ['in a list after one of another session', [{ ...call, sessionId: 't' }, call]],
    ['in a list with items that are no calls', { data: [null, 'x', { sessionId: 's' }, call] }],
    ['without its session id', { data: { status: 'ongoing', type: 'video' } }],
    ['in a list without its session id', { data: [{ status: 'ongoing', type: 'video' }] }],
  ])('accepts a call that is %s', async (_case, body) => {
    const { client } = clientOf({ headers: { date: DATE }, body })
    expect(await client.getCall('s', never)).toMatchObject({
      serviceTime: SERVICE,
      hostTime: HOST,
      calls: [{ id: 's', status: 'ongoing', type: 'video' }],
    })
  })

  test('reads an id that is a number as its text', async () => {
    const { client } = clientOf({ body: { data: { ...call, sessionId: 17 } } })
    expect((await client.getCall('17', never)).calls[0]?.id).toBe('17')
  })

  test('reads an id beyond 2^53 that is a number as its digits, and requests these', async () => {
    const id = '9007199254740993'
    const { client, requests } = clientOf({ body: `{"data":{"sessionId":${id},"status":"ongoing"}}` })
    expect((await client.getCall(id, never)).calls[0]?.id).toBe(id)
    expect(requests.map(({ path }) => path)).toEqual([`/calls/${id}`])
  })

  test.each([
    ['room', 'v1.eu.app.room'],
    ['v1.eu.app.room', 'room'],
  ])('of the session %s is of that session if it shows it as %s', async (id, sessionId) => {
    const { client } = clientOf(
      { body: { data: { ...call, sessionId } } },
      { baseUrl: 'https://app.call-eu.cometchat.io/v3' },
    )
    expect((await client.getCall(id, never)).calls[0]?.id).toBe(id)
    const other = clientOf(
      { body: { data: { ...call, sessionId: 'v1.eu.app.hall' } } },
      { baseUrl: 'https://app.call-eu.cometchat.io/v3' },
    )
    await expect(other.client.getCall(id, never)).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('refuses another call whose id beyond 2^53 is the same number', async () => {
    const { client } = clientOf({ body: '{"data":{"sessionId":9007199254740993,"status":"ongoing"}}' })
    await expect(client.getCall('9007199254740992', never)).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('reads all calls of a session, in any form that has several', async () => {
    const calls = [100, 200, 300].map((ago) => ({ ...call, initiatedAt: SERVICE - ago }))
    for (const body of [{ data: calls }, calls]) {
      const { client } = clientOf({ headers: { date: DATE }, body })
      expect((await client.getCall('s', never)).calls).toMatchObject(calls.map(({ initiatedAt }) => ({ initiatedAt })))
    }
  })

  test('reads an empty list as a session without calls', async () => {
    const { client } = clientOf({ body: { data: [] } })
    expect((await client.getCall('s', never)).calls).toEqual([])
  })

  test.each([
    [{}, 'no_session_id'],
    [{ data: {} }, 'it has none'],
    [{ data: null }, 'it has none'],
    [{ data: { sessionId: 's' } }, 'no_status'],
    [{ data: [{ sessionId: 's' }, null] }, 'no_status, not_an_object'],
    [{ data: { ...call, sessionId: 't' } }, 'another_call'],
    [{ message: 'hello' }, 'no_session_id'],
    [{ status: 'error', message: 'no such call' }, 'no_session_id'],
  ])('with the answer %j fails, because it has no call', async (body, why) => {
    await expect(clientOf({ body }).client.getCall('s', never)).rejects.toMatchObject({
      kind: 'invalid',
      message: `the service answered Get Call without a call that callwatch can read: ${why}`,
    })
  })

  test('with any answer gives a call, or fails', async () => {
    const row = fc.oneof(
      fc.constant(call),
      fc.record({ sessionId: fc.anything(), status: fc.anything() }),
      fc.anything(),
    )
    const body = fc.oneof(row, fc.array(row), fc.record({ data: fc.oneof(row, fc.array(row)) }), fc.json())
    const property = fc.asyncProperty(body, fc.constantFrom(200, 201, 204, 404, 500), async (one, status) => {
      const answered = await clientOf({ status, body: one })
        .client.getCall('s', never)
        .catch((error: unknown) => error)
      if (answered instanceof ServiceError) return
      expect(answered).toMatchObject({ calls: expect.any(Array) })
    })
    await fc.assert(property, { numRuns: runs(1000) })
  })

  test('rejects with `not_found` and the clock of the service for an unknown session', async () => {
    const body = { error: { code: 'ERR_CALL_SESSION_NOT_FOUND', message: 'no such session' } }
    const { client } = clientOf({ status: 404, headers: { date: DATE }, body })
    await expect(client.getCall('s', never)).rejects.toMatchObject({
      kind: 'not_found',
      status: 404,
      serviceTime: SERVICE,
    })
  })
})

describe('a failed request of the calls client', () => {
  test('is reported as a network error with its cause', async () => {
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

  test('does not report the key, even if the service quotes it', async () => {
    const body = { error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message: 'unknown key k3y' } }
    await expect(list(clientOf({ status: 401, body }).client)).rejects.toMatchObject({
      message:
        'the key is not accepted; check api_key, and app_id and region, since a key belongs to one app (the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: unknown key ********)',
    })
  })
})
