import { expect, test } from 'vitest'

import { START } from './request-service.ts'
import { startWorld } from './start-world.ts'
import { defaultSwitches } from './switches.ts'

const options = { clock: () => START, history: 10, callsPerMinute: 0 }
const asked = (url: string) => fetch(`${url}/calls`, { headers: { apikey: 'simulator-full-access' } })

test('the switch date leaves the Date header out, and dateOffset steps it', async () => {
  const world = await startWorld(options)
  const date = async () => (await fetch(`${world.url}/calls`)).headers.get('date')
  world.setSwitches({ dateOffset: -3600 })
  expect(await date()).toBe(new Date((START - 3600) * 1000).toUTCString())
  world.setSwitches({ date: 'absent' })
  expect(await date()).toBeNull()
  expect(world.responses().at(-1)!.date).toBe('')
  await world.close()
})

test('healing resets every switch but arrivals', async () => {
  const world = await startWorld(options)
  world.setSwitches({ arrivals: false, order: 'oldest', fault: { reset: 1 }, facts: { swift: 1 }, outage: true })
  world.heal()
  expect(world.switches()).toEqual({ ...defaultSwitches, arrivals: false })
  await world.close()
})

test('a world says what really happened', async () => {
  const world = await startWorld(options)
  world.setSwitches({ order: 'oldest', fault: { empty: 1 } })
  await asked(world.url)
  expect(world.reached()).toMatchObject({ 'order.oldest': 1, 'fault.empty': 1, 'event.ended': expect.any(Number) })
  await world.close()
})

test('the control endpoints know the further switches', async () => {
  const world = await startWorld(options)
  const url = `${new URL(world.url).origin}/_simulator/switches`
  const switches = await fetch(url, { method: 'POST', body: '{"order":"type","totalCap":5}' })
  expect(await switches.json()).toEqual({ ...defaultSwitches, order: 'type', totalCap: 5 })
  await world.close()
})
