import { expect, onTestFinished, test } from 'vitest'
import { compareWithSimulator } from '../../../src/commands/demo/compare-with-simulator.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'

test.each([
  // Whether a call that rings at the set-up, and is first seen when it has failed, was over before, only its end can say.
  [
    'a history that is excluded',
    { history: 20, switches: { failedEnds: 'given' as const } },
    { baseline: 'skip' as const },
  ],
  // Half of it is before the horizon.
  ['a history that is counted', { history: 400, historySeconds: 7200 }, { baseline: 'count' as const, lookback: 3600 }],
])(
  'with %s, counters that equal what the simulator recorded have no differences; a wrong counter is listed with both values',
  async (_which, history, poll) => {
    let frozen: number | undefined
    const clock = () => frozen ?? Date.now() / 1000
    const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 1200, speed: 20, open: 5, ...history, clock })
    onTestFinished(simulator.close)
    const { daemon, recovered } = await daemonInProcess(simulator.url, poll)
    await recovered()
    frozen = Date.now() / 1000
    // The first poll that ends may have begun before, and have read its pages while calls changed.
    await recovered()
    await recovered()
    // Nothing waits from here to the last line, so no poll comes between.
    const target = daemon.targets.loaded()[0]!
    const equal = compareWithSimulator(target, simulator)
    const key = 'callwatch_calls_started_total|audio|call|user'
    const before = target.ledger.counters.get(key) ?? 0
    target.ledger.counters.set(key, before + 1)
    const different = compareWithSimulator(target, simulator)
    target.ledger.counters.set(key, before)

    expect(equal.differences).toEqual([])
    expect(equal.series).toBeGreaterThan(100)
    const series = 'callwatch_calls_started_total{mode="call",receiver_type="user",type="audio"}'
    expect(different.differences).toEqual([{ series, recorded: before, counted: before + 1 }])
  },
)
