import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { startSimulator, type Simulator } from '../../src/simulator/simulator.ts'
import { defaultSwitches } from '../../src/simulator/switches.ts'
import { START } from './request-service.ts'

let simulator: Simulator

beforeAll(async () => {
  simulator = await startSimulator({ clock: () => START, history: 120, callsPerMinute: 0 })
})

beforeEach(() => simulator.setSwitches(defaultSwitches))

afterAll(() => simulator.close())

const get = async (path: string) => {
  const response = await fetch(simulator.url + path, { headers: { apikey: simulator.keys.fullAccess } })
  return JSON.parse(await response.text())
}

const control = async (path: string, body?: unknown) => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${simulator.port}/_simulator/${path}`, init)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

test('the switch date leaves the Date header out, and dateOffset steps it', async () => {
  const date = async () => (await fetch(`${simulator.url}/calls`)).headers.get('date')
  simulator.setSwitches({ dateOffset: -3600 })
  expect(await date()).toBe(new Date((START - 3600) * 1000).toUTCString())
  simulator.setSwitches({ date: 'absent' })
  expect(await date()).toBeNull()
  expect(simulator.responses().at(-1)!.date).toBe('')
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

  test('heal resets every switch but arrivals', async () => {
    simulator.setSwitches({ arrivals: false, order: 'oldest', fault: { reset: 1 }, facts: { swift: 1 }, outage: true })
    const expected = { ...defaultSwitches, arrivals: false }
    expect(await control('heal', {})).toEqual({ status: 200, body: expected })
    expect(simulator.switches()).toEqual(expected)
  })

  test('rotate the key: the old one is refused from then on, and a new one valid', async () => {
    const rotating = await startSimulator({ clock: () => START })
    const statusFor = async (apikey: string) => (await fetch(`${rotating.url}/calls`, { headers: { apikey } })).status
    const first = rotating.keys.fullAccess
    const url = `http://127.0.0.1:${rotating.port}/_simulator/rotate-key`
    const rotate = async (body: string) => JSON.parse(await (await fetch(url, { method: 'POST', body })).text())
    const { apiKey } = await rotate('')
    expect([await statusFor(first), await statusFor(apiKey)]).toEqual([401, 200])
    expect(await rotate('{"apiKey": "third"}')).toEqual({ apiKey: 'third' })
    expect([await statusFor(apiKey), await statusFor('third')]).toEqual([401, 200])
    expect(rotating.rotateKey('fourth')).toBe('fourth')
    expect([await statusFor('third'), await statusFor('fourth')]).toEqual([401, 200])
    expect(await rotate('{"apiKey": ""}')).toMatchObject({ error: { code: 'ERR_KEY' } })
    expect(rotating.reached()).toMatchObject({ 'key.rotated': 3, 'key.refused': 3 })
    await rotating.close()
  })

  test('report what really happened', async () => {
    const before = (await control('reached')).body
    simulator.setSwitches({ order: 'oldest', fault: { empty: 1 } })
    await fetch(`${simulator.url}/calls`, { headers: { apikey: simulator.keys.fullAccess } })
    const after = (await control('reached')).body
    expect(after).toEqual(simulator.reached())
    expect(after['order.oldest']).toBe((before['order.oldest'] ?? 0) + 1)
    expect(after['fault.empty']).toBe((before['fault.empty'] ?? 0) + 1)
  })

  test('start a burst', async () => {
    let now = START
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
      at: START,
      method: 'GET',
      path: '/v3/calls?page=2&perPage=3',
      status: 200,
      date: new Date(START * 1000).toUTCString(),
      body: JSON.stringify(list),
      delivered: true,
    })
    expect(JSON.stringify(responses)).not.toContain(simulator.keys.fullAccess)
  })

  test('keep no more responses than allowed, and none if recording is off', async () => {
    for (const [options, kept] of [
      [{ mostRecordedResponses: 2 }, 2],
      [{ mostRecordedCharacters: 450 }, 2],
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
