import { expect, onTestFinished, test } from 'vitest'
import { compareWithTruth } from '../../src/commands/compare-with-truth.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { daemonInProcess, KEY } from '../daemon/daemon-in-process.ts'

test('counters that are what happened are equal; one too many is named, with both figures', async () => {
  const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 1200, speed: 20, history: 20, open: 5 })
  onTestFinished(simulator.close)
  const { daemon, recovered } = await daemonInProcess(simulator.url, { baseline: 'skip' })
  await recovered()
  // From here to the last line nothing waits, so no look comes between.
  const watched = daemon.targets[0]!
  const equal = compareWithTruth(watched, simulator)
  const key = 'callwatch_calls_started_total|audio|call|user'
  const before = watched.ledger.counters.get(key) ?? 0
  watched.ledger.counters.set(key, before + 1)
  const different = compareWithTruth(watched, simulator)
  watched.ledger.counters.set(key, before)

  expect(equal.differences).toEqual([])
  expect(equal.series).toBeGreaterThan(100)
  const series = 'callwatch_calls_started_total{mode="call",receiver_type="user",type="audio"}'
  expect(different.differences).toEqual([{ series, truth: before, counted: before + 1 }])
})
