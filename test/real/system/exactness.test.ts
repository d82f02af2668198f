import { expect, test, vi } from 'vitest'
import { exactDifferences, live, polls, settle, systemWorld } from './world.ts'
import { difference } from '../../kit/replay/exposition.ts'
import { observedFamilies, replay } from '../../kit/replay/replay.ts'

test('every exact series of an undisturbed daemon equals what the simulator recorded, every observed one a replay of the responses; its requests only read', async () => {
  const world = await systemWorld('--speed', '400', '--calls-per-minute', '600', '--history', '250', '--seed', '21')
  const daemon = await world.startDaemon()
  await live(12)
  await settle(world, daemon)

  const { expected, differences } = await exactDifferences(world, daemon)
  expect(differences).toEqual([])
  expect(expected.size).toBeGreaterThan(100)

  const responses = await world.responses()
  const operations = responses.map(
    ({ method, path }) => `${method} ${path.replace(/[?].*$/, '').replace(/(?<=calls\/).+/, 'ID')}`,
  )
  expect(new Set(operations)).toEqual(new Set(['GET /v3/calls', 'GET /v3/calls/ID']))

  const observed = replay(responses, { created: await daemon.created(), baseline: 'count' })
  expect(difference(observed, await daemon.scrape(), observedFamilies)).toEqual([])
  expect(observed.size).toBeGreaterThan(5)
  for (const outcome of ['complete', 'incremental'])
    await vi.waitFor(async () => expect(await polls(daemon, outcome)).toBeGreaterThan(2), { timeout: 90_000 })
  expect(await daemon.program.end('SIGTERM')).toBe(0)
})
