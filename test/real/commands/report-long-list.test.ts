import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'

test('report without a store covers its period in a list that is too long to be read to its end', async () => {
  const simulator = await startSimulator({ history: 2500, callsPerMinute: 1 })
  onTestFinished(simulator.close)
  const { stdout } = await callwatch(['report', '--since', '1h', '--json'], {
    env: {
      CALLWATCH_BASE_URL: simulator.url,
      CALLWATCH_API_KEY: simulator.keys.fullAccess,
      CALLWATCH_STORE_PATH: 'nowhere/callwatch.db',
    },
  })
  const { total, coverage } = JSON.parse(stdout)
  expect(total.calls.total).toBeGreaterThan(30)
  expect(coverage.blind).toEqual([])
})
