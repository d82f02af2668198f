import { expect, test } from 'vitest'
import { call, numbered, polling } from './polling.ts'

test('a call that the first sweep after a long outage shows without its id counts once a poll shows it with its id', async () => {
  const { service, clock, poll, untilComplete, has } = polling({ lookback: 60, pageSize: 40 })
  const inNoOrder = (calls: ReturnType<typeof numbered>) => calls.map((_call, n) => calls[(n * 17) % calls.length]!)
  service.calls = inNoOrder(numbered(1, 20))
  await untilComplete()
  await clock.advance(600)
  service.calls = inNoOrder([...numbered(-500, -480), call(-70), ...numbered(1, 20)])
  const { listCalls } = service.client
  service.client.listCalls = async (page, signal) => {
    const shown = await listCalls(page, signal)
    const keys = shown.keys.map((key) => (key === 'call -70' ? 'without id' : key))
    return { ...shown, calls: shown.calls.filter(({ id }) => id !== 'call -70'), keys }
  }
  expect((await poll()).success?.endsSweep).toBe(true)
  expect([has(-500), has(-70)]).toEqual([true, false])
  service.client.listCalls = listCalls
  await poll()
  expect(has(-70)).toBe(true)
})
