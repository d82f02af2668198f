import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { startSimulator } from '../../src/simulator/simulator.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { defaultSwitches, patchSwitches } from '../../src/simulator/switches.ts'

let simulator: Simulator

beforeAll(async () => {
  simulator = await startSimulator({ clock: () => 1_800_000_000, history: 120, callsPerMinute: 0 })
})

beforeEach(() => simulator.setSwitches(defaultSwitches))

afterAll(() => simulator.close())

const get = async (path: string) => {
  const response = await fetch(simulator.url + path, { headers: { apikey: simulator.keys.fullAccess } })
  return JSON.parse(await response.text())
}
const ids = async (): Promise<string[]> =>
  (await get('/calls?perPage=1000')).data.map((call: { sessionId: string }) => call.sessionId)

const control = async (path: string, body?: unknown) => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${simulator.port}/_simulator/${path}`, init)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('a switch', () => {
  test('order lists newest first, oldest first, or anew for every request', async () => {
    const newest = await ids()
    simulator.setSwitches({ order: 'oldest' })
    expect(await ids()).toEqual(newest.toReversed())
    simulator.setSwitches({ order: 'shuffled' })
    const [one, two] = [await ids(), await ids()]
    expect(one).not.toEqual(two)
    expect(one.toSorted()).toEqual(newest.toSorted())
    expect(two.toSorted()).toEqual(newest.toSorted())
  })

  test('getCall gives the call bare', async () => {
    const path = `/calls/${encodeURIComponent((await ids())[0]!)}`
    const { data } = await get(path)
    simulator.setSwitches({ getCall: 'bare' })
    expect(await get(path)).toEqual(data)
  })

  test.each([
    ['honoured', 70],
    ['ignored', 50],
    [20, 20],
    [100, 70],
  ] as const)('perPage %s makes pages of %i where 70 were asked for', async (perPage, expected) => {
    simulator.setSwitches({ perPage })
    const { data, meta } = await get('/calls?perPage=70')
    expect(data).toHaveLength(expected)
    expect(meta.pagination.per_page).toBe(expected)
  })

  test('total leaves out how many calls and pages there are', async () => {
    simulator.setSwitches({ total: 'absent' })
    expect((await get('/calls')).meta.pagination).toEqual({ count: 50, per_page: 50, current_page: 1 })
  })

  test.each([
    [{ ordre: 'newest' }, /unknown switch "ordre"; there are .*order/],
    [{ order: 'random' }, /switch "order": expected "newest" or "oldest" or "shuffled", got "random"/],
    [{ perPage: 0 }, /switch "perPage": expected "honoured"/],
    [{ fault: { reset: 0.6, hang: 0.5 } }, /switch "fault": expected an object with probabilities/],
    [{ fault: { earthquake: 0.1 } }, /http_500/],
    [{ outage: 'yes' }, /switch "outage": expected true or false/],
    [[], /expected a JSON object/],
  ])('patch %j is refused, and says why', (patch, problem) => {
    const result = patchSwitches(defaultSwitches, patch)
    expect(result).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe('the control endpoints', () => {
  test('change switches by a patch and show them', async () => {
    const expected = { ...defaultSwitches, order: 'oldest', fault: { empty: 0.25 } }
    expect(await control('switches', { order: 'oldest', fault: { empty: 0.25 } })).toEqual({
      status: 200,
      body: expected,
    })
    expect(await control('switches')).toEqual({ status: 200, body: expected })
  })

  test('refuse an unknown switch by its name and change nothing', async () => {
    const refused = await control('switches', { order: 'oldest', ordre: 1 })
    expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('"ordre"') } } })
    expect((await control('switches')).body).toEqual(defaultSwitches)
  })

  test('start a burst', async () => {
    let now = 1_800_000_000
    const world = await startSimulator({ clock: () => now, history: 0, open: 0, callsPerMinute: 0 })
    const url = `http://127.0.0.1:${world.port}/_simulator/burst`
    const response = await fetch(url, {
      method: 'POST',
      body: '{"calls": 8, "seconds": 4, "outcomes": {"rejected": 1}}',
    })
    expect(response.status).toBe(200)
    now += 120
    const ended = world.ledger().filter((event) => event.event === 'rejected')
    expect(ended).toHaveLength(8)
    await world.close()
  })

  test.each([
    [{}],
    [{ calls: 0, seconds: 1 }],
    [{ calls: 1, seconds: -1 }],
    [{ calls: 1, seconds: 1, outcomes: { lost: 1 } }],
    [{ calls: 1, seconds: 1, outcomes: { rejected: 0 } }],
  ])('refuse the burst %j', async (burst) => {
    expect((await control('burst', burst)).status).toBe(400)
  })

  test('give the ledger and the responses', async () => {
    const { body } = await control('ledger')
    expect(body.events).toEqual(simulator.ledger())
    const list = await get('/calls?page=2&perPage=3')
    const { responses } = (await control('responses')).body
    expect(responses.at(-1)).toMatchObject({
      at: 1_800_000_000,
      method: 'GET',
      path: '/v3/calls?page=2&perPage=3',
      status: 200,
      date: new Date(1_800_000_000_000).toUTCString(),
      body: JSON.stringify(list),
      delivered: true,
    })
    expect(JSON.stringify(responses)).not.toContain(simulator.keys.fullAccess)
  })

  test('keep no more responses than allowed, and none where none are wanted', async () => {
    for (const [options, kept] of [
      [{ mostRecordedResponses: 2 }, 2],
      [{ recordResponses: false }, 0],
    ] as const) {
      const bounded = await startSimulator({ history: 1, ...options })
      for (let page = 1; page <= 3; page++) await fetch(`${bounded.url}/calls?page=${page}`)
      expect(bounded.responses().map(({ path }) => path)).toEqual(
        ['/v3/calls?page=2', '/v3/calls?page=3'].slice(0, kept),
      )
      await bounded.close()
    }
  })
})
