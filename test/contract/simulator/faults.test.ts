import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { faultNames } from '../../../src/simulator/answers/faults.ts'
import { setSwitches } from '../../kit/world/start-world.ts'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import type { Switches } from '../../../src/simulator/switches.ts'
import { SOON } from '../../kit/eventually.ts'
import { ask, serviceOf, START } from '../../kit/world/request-service.ts'

let simulator: Simulator

beforeAll(async () => {
  simulator = await startSimulator({ clock: () => START, history: 30, callsPerMinute: 0 })
})

beforeEach(() => simulator.setSwitches({ fault: {}, outage: false }))

afterAll(() => simulator.close())

const list = (timeout = 5000): Promise<Response> =>
  fetch(`${simulator.url}/calls`, {
    headers: { apikey: simulator.keys.fullAccess },
    signal: AbortSignal.timeout(timeout),
  })

describe('the fault', () => {
  test.each([
    ['http_500', 500, /"code":"ERR_INTERNAL_SERVER_ERROR"/],
    ['html_500', 500, /<h1>500 Internal Server Error/],
    ['http_502', 502, /<h1>502 Bad Gateway/],
    ['http_503', 503, /<h1>503 Service Temporarily Unavailable/],
    ['rate_limited', 429, /"code":"ERR_TOO_MANY_REQUESTS"/],
    ['empty', 200, /^$/],
    ['html_200', 200, /^<html>/],
    ['error_200', 200, /^\{"error":/],
  ] as const)('%s answers %i with its body', async (name, status, body) => {
    simulator.setSwitches({ fault: { [name]: 1 } })
    const response = await list()
    expect(response.status).toBe(status)
    expect(await response.text()).toMatch(body)
  })

  test('reset ends the connection at once, and so does an outage', async () => {
    for (const patch of [{ fault: { reset: 1 } }, { outage: true }]) {
      simulator.setSwitches({ fault: {}, outage: false, ...patch })
      await expect(list()).rejects.toThrow('fetch failed')
      expect(simulator.responses().at(-1)).toMatchObject({ status: 0, body: '', delivered: false })
    }
  })

  test('hang never answers', async () => {
    simulator.setSwitches({ fault: { hang: 1 } })
    await expect(list(150)).rejects.toThrow(/timeout/)
  })

  test('drip sends a little again and again, and never ends', async () => {
    simulator.setSwitches({ fault: { drip: 1 } })
    const response = await list(60_000)
    expect(response.status).toBe(200)
    const reader = response.body!.getReader()
    for (let piece = 0; piece < 3; piece++) expect((await reader.read()).done).toBe(false)
    await reader.cancel()
    await vi.waitFor(() => expect(simulator.responses().at(-1)).toMatchObject({ status: 200, delivered: false }), SOON)
  })

  test('truncated breaks off in the middle of the body', async () => {
    simulator.setSwitches({ fault: { truncated: 1 } })
    const response = await list()
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(simulator.responses().at(-1)).toMatchObject({ status: 200, delivered: false })
  })

  test('none leaves the response complete', async () => {
    const response = await list()
    expect(JSON.parse(await response.text()).data).toHaveLength(30)
    expect(simulator.responses().at(-1)).toMatchObject({ status: 200, delivered: true })
  })

  test.each([
    ['rate_limited', ['date', 'seconds']],
    ['http_503', ['date', 'none', 'seconds']],
  ])('%s gives Retry-After in the forms %j, in the near future', (name, expected) => {
    const service = serviceOf({ switches: { fault: { [name]: 1 } } })
    const forms = new Set<string>()
    for (let i = 0; i < 60; i++) {
      const retryAfter = ask(service, START).headers['Retry-After']
      if (retryAfter === undefined) {
        forms.add('none')
        continue
      }
      const isDate = retryAfter.includes('GMT')
      forms.add(isDate ? 'date' : 'seconds')
      const ahead = isDate ? Date.parse(retryAfter) / 1000 - START : Number(retryAfter)
      expect(ahead).toBeGreaterThanOrEqual(1)
      expect(ahead).toBeLessThanOrEqual(4)
    }
    expect([...forms].toSorted()).toEqual(expected)
  })

  test('rate_limited gives a date by the clock that the Date header shows', () => {
    const service = serviceOf({ switches: { fault: { rate_limited: 1 }, dateOffset: 1000 } })
    const headers = Array.from({ length: 40 }, () => ask(service, START).headers)
    const dates = headers.map((each) => each['Retry-After']!).filter((value) => value.includes('GMT'))
    expect(dates.length).toBeGreaterThan(5)
    for (const date of dates) expect(Math.abs(Date.parse(date) / 1000 - START - 1000)).toBeLessThanOrEqual(4)
  })
})

describe('faults of the simulator', () => {
  const all: Switches['fault'] = Object.fromEntries(faultNames.map((name) => [name, 0.05]))

  test('occur with their probabilities', () => {
    const service = serviceOf({ switches: { fault: all } })
    const statuses = Array.from({ length: 2000 }, () => ask(service, START)).map(
      ({ status, delivery }) => `${status} ${delivery}`,
    )
    const share = (wanted: string): number => statuses.filter((each) => each === wanted).length / 2000
    for (const wanted of ['502 whole', '503 whole', '429 whole', '0 reset', '0 hang', '200 drip', '200 truncated']) {
      expect(share(wanted)).toBeGreaterThan(0.03)
      expect(share(wanted)).toBeLessThan(0.07)
    }
    // Of the requests 40% meet no fault, and three faults answer 200 as well.
    expect(share('200 whole')).toBeGreaterThan(0.5)
    expect(share('200 whole')).toBeLessThan(0.6)
    expect(service.state.reached.get('fault.reset')! / 2000).toBe(share('0 reset'))
  })

  test('are the same for the same seed', () => {
    const [one, same, other] = ['a', 'a', 'b'].map((seed) => {
      const service = serviceOf({ seed, switches: { fault: all } })
      return Array.from({ length: 50 }, () => ask(service, START)).map(
        ({ status, delivery }) => `${status} ${delivery}`,
      )
    })
    expect(same).toEqual(one)
    expect(other).not.toEqual(one)
  })

  test('end when they are switched off', () => {
    const service = serviceOf({ switches: { fault: { http_500: 1 }, outage: true } })
    expect(ask(service, START).delivery).toBe('reset')
    setSwitches(service, { outage: false })
    expect(ask(service, START).status).toBe(500)
    setSwitches(service, { fault: {} })
    expect(ask(service, START).status).toBe(200)
  })
})
