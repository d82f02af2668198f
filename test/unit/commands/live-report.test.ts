import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'

async function reportOf(...args: readonly string[]) {
  const simulator = await startSimulator({ history: 200, callsPerMinute: 1 })
  onTestFinished(simulator.close)
  const variables = { CALLWATCH_BASE_URL: simulator.url }
  return (key = simulator.keys.fullAccess) =>
    callwatch(['report', '--live', ...args], { env: { ...variables, CALLWATCH_API_KEY: key } })
}

test('report --live prints the last day of a service, without a store', async () => {
  const { code, stdout, stderr } = await (await reportOf())()
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  const [, calls] = /: the last 24h: (\d+) calls, [\d,]+ participant minutes, [\d.]+% failed$/m.exec(stdout) ?? []
  expect(Number(calls)).toBeGreaterThan(180)
  expect(stdout).toMatch(/^\d+ \w+ \d{4} \d\d:\d\d to \d+ \w+ \d{4} \d\d:\d\d \(UTC\)\n/)
  expect(stdout).toMatch(/^ {2}NoGoodPoll: no successful poll for 5m$/m)
})

test('report --live says why a service cannot be read, and fails', async () => {
  const { code, stdout, stderr } = await (await reportOf())('wrong')
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('the service answered 401')
})

test('report --live refuses an unknown target', async () => {
  const { code, stderr } = await (await reportOf('--target', 'nosuch'))()
  expect(code).toBe(2)
  expect(stderr).toContain('there is no target nosuch')
})
