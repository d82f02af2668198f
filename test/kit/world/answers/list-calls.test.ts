import { describe, expect, test } from 'vitest'

import { heal, setSwitches } from '../start-world.ts'
import { ask, getCall, idsOf, list, serviceOf, START } from '../request-service.ts'

describe('the pages of List Calls', () => {
  test.each([
    ['honoured', 70],
    ['ignored', 30],
    [20, 20],
    [100, 70],
  ] as const)('with perPage %s have room for %i calls if 70 are requested', (perPage, expected) => {
    const service = serviceOf({ history: 120, switches: { perPage, perPageField: 'given' } })
    const { data, meta } = list(service, START, 'perPage=70')
    expect(data).toHaveLength(expected)
    expect(meta.pagination).toMatchObject({ per_page: expected })
  })

  test('with perPage varying sometimes have room for half of the calls', () => {
    const service = serviceOf({ switches: { perPage: 'varying' } })
    const sizes = Array.from({ length: 60 }, () => list(service, START, 'perPage=25').data.length)
    expect(new Set(sizes)).toEqual(new Set([25, 13]))
    expect(sizes.filter((size) => size === 13).length).toBeLessThan(30)
  })

  test.each([
    [{}, { total: 60, count: 25, current_page: 1, total_pages: 3 }],
    [{ total: 'absent' }, { count: 25, current_page: 1 }],
    [{ total: 'pages' }, { count: 25, current_page: 1, total_pages: 3 }],
    [{ total: 'calls' }, { total: 60, count: 25, current_page: 1 }],
    [{ total: 'page' }, { total: 25, count: 25, current_page: 1, total_pages: 1 }],
    [{ total: 'zero' }, { total: 0, count: 25, current_page: 1, total_pages: 0 }],
    [{ perPageField: 'given' }, { total: 60, count: 25, per_page: 25, current_page: 1, total_pages: 3 }],
    [{ totalCap: 40 }, { total: 40, count: 25, current_page: 1, total_pages: 2 }],
    [{ hiddenRows: 30 }, { total: 90, count: 25, current_page: 1, total_pages: 4 }],
    [{ extraPages: 1 }, { total: 60, count: 25, current_page: 1, total_pages: 4 }],
  ] as const)('with %j are described as %j', (switches, expected) => {
    const service = serviceOf({ switches })
    expect(list(service, START, 'perPage=25').meta.pagination).toEqual(expected)
    // Whatever the total is, every call is listed, and no other.
    expect(list(service, START, 'perPage=20&page=3').data).toHaveLength(20)
    expect(list(service, START, 'perPage=60&page=2').data).toEqual([])
  })

  test('with duplicates repeat the end of the page before, and leave nothing out', () => {
    const service = serviceOf({ history: 120 })
    const all = idsOf(list(service, START))
    setSwitches(service, { duplicates: 1 })
    const answered = [1, 2, 3].map((page) => list(service, START, `page=${page}&perPage=40`))
    for (const { data, meta } of answered) expect(meta.pagination).toMatchObject({ total: 120, count: data.length })
    const pages = answered.map(idsOf)
    expect(new Set(pages.flat())).toEqual(new Set(all))
    expect(pages[0]).toEqual(all.slice(0, 40))
    const again = pages[1]!.length - 40
    expect(again).toBeGreaterThan(0)
    expect(pages[1]!.slice(0, again)).toEqual(pages[0]!.slice(-again))
  })

  test.each([404, 400] as const)('end with a %i past the last', (pastLast) => {
    const service = serviceOf({ switches: { pastLast } })
    expect(ask(service, START, '/v3/calls', 'perPage=30&page=3').status).toBe(pastLast)
    expect(ask(service, START, '/v3/calls', 'perPage=30&page=2').status).toBe(200)
  })

  test('after the deepest are refused, empty, the deepest one again, or never answered', () => {
    const service = serviceOf({ switches: { deepestPage: 2 } })
    const page = (number: number) => list(service, START, `perPage=20&page=${number}`)
    const third = () => ask(service, START, '/v3/calls', 'perPage=20&page=3')
    expect(page(2).data).toHaveLength(20)
    expect(third().status).toBe(400)
    const message = 'page 3 exceeds the allowed maximum of 40 records'
    expect(JSON.parse(third().body).error).toMatchObject({ code: 'ERR_PAGE_TOO_DEEP', message })
    setSwitches(service, { deepPages: 'empty' })
    expect([page(2).data.length, page(3).data.length]).toEqual([20, 0])
    expect(page(3).meta.pagination.total).toBe(60)
    setSwitches(service, { deepPages: 'repeated' })
    expect(idsOf(page(3))).toEqual(idsOf(page(2)))
    setSwitches(service, { deepPages: 'hang' })
    expect(third().delivery).toBe('hang')
  })

  test.each([0, 0.3])('show only indexed calls, also in the total, while %d of all are indexed', (indexed) => {
    const service = serviceOf()
    const all = idsOf(list(service, START))
    setSwitches(service, { indexed })
    const { data, meta } = list(service, START)
    expect(data.length).toBe(Math.round(indexed * 60))
    expect(meta.pagination.total).toBe(data.length)
    expect(list(service, START).data).toEqual(data)
    for (const id of all) expect(getCall(service, START, id).status).toBe(200)
    heal(service)
    expect(idsOf(list(service, START))).toEqual(all)
  })

  test('write out no more calls than they show', () => {
    const service = serviceOf({ history: 500 })
    ask(service, START, '/v3/calls', 'page=2&perPage=25')
    expect([...service.world.entries.values()].flat().filter(({ text }) => text !== undefined)).toHaveLength(25)
  })
})

describe('a stale page', () => {
  test('is served again with its Date and, if switched on, its Age', () => {
    const service = serviceOf({ callsPerMinute: 60, switches: { cacheSeconds: 5, age: 'given' } })
    const [first, second] = [ask(service, START), ask(service, START + 4)]
    expect(second.body).toBe(first.body)
    expect(second.headers).toMatchObject({ date: first.headers['date'], age: '4' })
    const third = ask(service, START + 5)
    expect(third.body).not.toBe(first.body)
    expect(third.headers).toMatchObject({ date: new Date((START + 5) * 1000).toUTCString() })
    expect(third.headers['age']).toBeUndefined()
  })

  test('is served for half of the requests with replicaLag, while Get Call is current', () => {
    const options = { history: 0, callsPerMinute: 30, speed: 5 }
    const [fresh, lagging] = [serviceOf(options), serviceOf({ ...options, switches: { replicaLag: 10 } })]
    const bodies = new Map<number, string>()
    let stale = 0
    for (let at = START + 60; at < START + 120; at++) {
      const now = ask(fresh, at).body
      bodies.set(at, now)
      const shown = ask(lagging, at).body
      if (shown === now) continue
      stale++
      if (bodies.has(at - 10)) expect(shown).toBe(bodies.get(at - 10))
    }
    expect(stale).toBeGreaterThan(15)
    expect(stale).toBeLessThan(45)
    const [id] = idsOf(list(fresh, START + 119))
    expect(getCall(lagging, START + 120, id!).body).toBe(getCall(fresh, START + 120, id!).body)
  })
})

test('with wrongDates the first responses have a wrong Date, the others a right one', () => {
  const service = serviceOf({ switches: { wrongDates: 2, wrongDateOffset: 3600 } })
  const dates = [0, 1, 2, 3].map((i) => Date.parse(ask(service, START + i).headers['date']!) / 1000 - START - i)
  expect(dates).toEqual([3600, 3600, 0, 0])
})

test('Get Call answers in each form', () => {
  const service = serviceOf()
  const [call] = list(service, START).data
  for (const [form, body] of [
    ['object', { data: call }],
    ['bare', call],
    ['list', { data: [call] }],
    ['bare_list', [call]],
  ] as const) {
    setSwitches(service, { getCall: form })
    expect(JSON.parse(getCall(service, START, call!.sessionId).body)).toEqual(body)
  }
})

test('a call without all values has them omitted or null, and its receiver type spelled either way', () => {
  const service = serviceOf({ history: 200 })
  const find = () => list(service, START).data.find(({ status }) => status === 'rejected')!
  const omitted = find()
  for (const name of ['mid', 'startedAt', 'recordings']) expect(omitted).not.toHaveProperty(name)
  setSwitches(service, { empty: 'null', receiverTypes: 'users' })
  const shown = find()
  expect(shown).toMatchObject({
    mid: null,
    startedAt: null,
    recordings: null,
    receiverType: expect.stringMatching(/^(?:user|group)s$/),
  })
  setSwitches(service, { empty: 'omitted', receiverTypes: 'user' })
  expect(find()).toEqual(omitted)
})

test('with times startedAt a call has the beginning of its ringing as startedAt, from its first answer on', () => {
  const [both, alone] = (['both', 'startedAt'] as const).map(
    (times) => list(serviceOf({ switches: { times } }), START).data,
  )
  for (const [i, { initiatedAt, startedAt: _answered, ...call }] of both!.entries())
    expect(alone![i]).toEqual({ ...call, startedAt: initiatedAt })
})

test('with pathIds raw Get Call decodes no character that a path may contain', () => {
  const service = serviceOf({ switches: { pathIds: 'raw' } })
  const id = idsOf(list(service, START)).find((one) => one.startsWith('meet'))!
  const statusOf = (path: string) => ask(service, START, `/v3/calls/${path}`, '').status
  const encoded = encodeURIComponent(id)
  expect([statusOf(encoded), statusOf(encoded.replace('%3A', ':'))]).toEqual([404, 200])
})
