import { expect, test } from 'vitest'
import { seedsOfCommit } from '../../kit/seeds-of-commit.ts'
import { simulateRun, type RunReport } from './simulate-run.ts'

/** Two that have found mistakes, and six that no run before has seen. A seed that fails is added here. */
const SEEDS = [4, 17, ...seedsOfCommit(6)]
const run = (seed: number) => simulateRun({ seed, days: 0.02 })
let last: RunReport | undefined

test.each(SEEDS)('the daemon counts what the simulator recorded, whatever goes wrong (seed %i)', async (seed) => {
  last = await run(seed)
  const { differences, polls } = last
  expect(differences, `again: npm run simtest -- --first ${seed} --seeds 1 --days 0.02`).toEqual([])
  expect((polls['incremental'] ?? 0) + (polls['complete'] ?? 0)).toBeGreaterThan(10)
})

test('the same seed gives the same simulation, to the last log line', async () => {
  const { seed } = (last ??= await run(4))
  expect(last.lines.length).toBeGreaterThan(100)
  expect(await run(seed)).toEqual(last)
})

test('the seeds of a commit are its own', () => {
  expect(seedsOfCommit(2, '000010000f')).toEqual([1, 15])
})
