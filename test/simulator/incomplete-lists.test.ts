import { describe, expect, test } from 'vitest'

import { setSwitches } from '../../src/simulator/create-service.ts'
import { heal } from '../../src/simulator/heal.ts'
import { ask, idsOf, list, serviceOf, START } from './asked-service.ts'

const headersOf = (service: ReturnType<typeof serviceOf>, at: number) => ask(service, at).headers

describe('how many calls there are', () => {
  test('is never above totalCap, and every call is listed all the same', () => {
    const { data, meta } = list(serviceOf({ switches: { totalCap: 40 } }), START, 'perPage=20&page=3')
    expect(data).toHaveLength(20)
    expect(meta.pagination).toMatchObject({ total: 40, total_pages: 2 })
  })

  test('includes hiddenRows, that no page shows', () => {
    const service = serviceOf({ switches: { hiddenRows: 3 } })
    expect(list(service, START).meta.pagination).toMatchObject({ total: 63, count: 60 })
    expect(list(service, START, 'perPage=60&page=2').data).toEqual([])
  })

  test('is given by the number of pages alone', () => {
    const { pagination } = list(serviceOf({ switches: { total: 'pages' } }), START, 'perPage=25').meta
    expect(pagination).toEqual({ count: 25, per_page: 25, current_page: 1, total_pages: 3 })
  })
})

describe('a page that is not given', () => {
  test.each([404, 400] as const)('since it is past the last is a %i', (pastLast) => {
    const service = serviceOf({ switches: { pastLast } })
    expect(ask(service, START, '/v3/calls', 'perPage=30&page=3').status).toBe(pastLast)
    expect(ask(service, START, '/v3/calls', 'perPage=30&page=2').status).toBe(200)
  })

  test('since it is too deep is empty, the deepest one again, or never answered', () => {
    const service = serviceOf({ switches: { deepestPage: 2, deepPages: 'empty' } })
    const page = (number: number) => list(service, START, `perPage=20&page=${number}`)
    expect([page(2).data.length, page(3).data.length]).toEqual([20, 0])
    expect(page(3).meta.pagination.total).toBe(60)
    setSwitches(service, { deepPages: 'repeated' })
    expect(idsOf(page(3))).toEqual(idsOf(page(2)))
    setSwitches(service, { deepPages: 'hang' })
    expect(ask(service, START, '/v3/calls', 'perPage=20&page=3').delivery).toBe('hang')
  })

  test.each([0, 0.3])(
    'since the index is being rebuilt is missing from the total: %d of all calls are listed',
    (indexed) => {
      const service = serviceOf()
      const all = idsOf(list(service, START))
      setSwitches(service, { indexed })
      const { data, meta } = list(service, START)
      expect(data.length).toBe(Math.round(indexed * 60))
      expect(meta.pagination.total).toBe(data.length)
      expect(list(service, START).data).toEqual(data)
      for (const id of all) expect(ask(service, START, `/v3/calls/${encodeURIComponent(id)}`).status).toBe(200)
      heal(service)
      expect(idsOf(list(service, START))).toEqual(all)
    },
  )
})

describe('a stale page', () => {
  test('is answered again as it was, with the Date that it had and, where that is wanted, its Age', () => {
    const service = serviceOf({ callsPerMinute: 60, switches: { cacheSeconds: 5, age: 'given' } })
    const [first, second] = [ask(service, START), ask(service, START + 4)]
    expect(second.body).toBe(first.body)
    expect(second.headers).toMatchObject({ date: first.headers['date'], age: '4' })
    const third = ask(service, START + 5)
    expect(third.body).not.toBe(first.body)
    expect(third.headers).toMatchObject({ date: new Date((START + 5) * 1000).toUTCString() })
    expect(third.headers['age']).toBeUndefined()
  })

  test('lags: half of the pages show what was seconds ago, and Get Call shows what is', () => {
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
    const path = `/v3/calls/${encodeURIComponent(id!)}`
    expect(ask(lagging, START + 120, path).body).toBe(ask(fresh, START + 120, path).body)
  })
})

test('the first answers have a Date that is wrong, the others a right one', () => {
  const service = serviceOf({ switches: { wrongDates: 2, wrongDateOffset: 3600 } })
  const dates = [0, 1, 2, 3].map((i) => Date.parse(headersOf(service, START + i)['date']!) / 1000 - START - i)
  expect(dates).toEqual([3600, 3600, 0, 0])
})
