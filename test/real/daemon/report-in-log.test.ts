import { expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'

test('without a receiver, the first report of a target is a line of the log, once', async () => {
  const simulator = await startSimulator({ apiKey: KEY, history: 40, callsPerMinute: 1 })
  onTestFinished(simulator.close)
  const running = await daemonInProcess(simulator.url, { lookback: 86_400 }, {})
  const reports = () => running.log.filter(({ msg }) => /\bcalls\b.* failed/.test(msg))
  await vi.waitFor(() => expect(reports()).toHaveLength(1), { timeout: 60_000, interval: 50 })
  expect(await running.reload({ alerts: [ANY_CALL] })).toMatchObject({ changed: ['alerts'] })
  await running.recovered()
  // More than two rounds of deliveries.
  await running.morePolls(25)
  expect(reports()).toHaveLength(1)
})
