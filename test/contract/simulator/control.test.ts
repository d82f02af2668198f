import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { defaultSwitches } from '../../../src/simulator/switches.ts'
import { START } from '../../kit/world/request-service.ts'

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

  test('refuse what is no JSON', async () => {
    const url = `http://127.0.0.1:${simulator.port}/_simulator/switches`
    expect((await fetch(url, { method: 'POST', body: 'order=oldest' })).status).toBe(400)
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

  test('keep no more responses than allowed', async () => {
    for (const [options, kept] of [
      [{ mostRecordedResponses: 2 }, 2],
      [{ mostRecordedCharacters: 450 }, 2],
      [{ mostRecordedResponses: 0 }, 0],
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

test('a key that is changed is valid from then on, and the old one is refused', async () => {
  const rotating = await startSimulator({ clock: () => START })
  const statusFor = async (apikey: string) => (await fetch(`${rotating.url}/calls`, { headers: { apikey } })).status
  const first = rotating.keys.fullAccess
  rotating.keys.fullAccess = 'another'
  expect([await statusFor(first), await statusFor('another')]).toEqual([401, 200])
  await rotating.close()
})
