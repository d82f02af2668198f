import { expect, test } from 'vitest'
import { simulateRun } from './simulate-run.ts'

const SEEDS = Array.from({ length: 24 }, (_none, i) => i + 1)

test.each(SEEDS)('the daemon counts what the simulator recorded, whatever goes wrong (seed %i)', async (seed) => {
  const { differences, polls } = await simulateRun({ seed, days: 0.02 })
  expect(differences, `again: npm run simtest -- --first ${seed} --seeds 1 --days 0.02`).toEqual([])
  expect((polls['incremental'] ?? 0) + (polls['complete'] ?? 0)).toBeGreaterThan(10)
})

test('the same seed gives the same simulation, to the last log line', async () => {
  const [one, two] = [await simulateRun({ seed: 4, days: 0.02 }), await simulateRun({ seed: 4, days: 0.02 })]
  expect(one.lines.length).toBeGreaterThan(100)
  expect(two).toEqual(one)
})
