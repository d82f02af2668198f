import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'

async function reporting(...args: readonly string[]) {
  const simulator = await startSimulator({ history: 200, callsPerMinute: 1 })
  onTestFinished(simulator.close)
  const env = { CALLWATCH_BASE_URL: simulator.url, CALLWATCH_STORE_PATH: 'nowhere/callwatch.db' }
  return (key = simulator.keys.fullAccess) =>
    callwatch(['report', ...args], { env: { ...env, CALLWATCH_API_KEY: key } })
}

test('report without a store has the last day as the service lists it', async () => {
  const { code, stdout, stderr } = await (await reporting())()
  expect({ code, stderr }, stdout).toEqual({
    code: 0,
    stderr: 'there is no store at nowhere/callwatch.db: this is what the services list now\n',
  })
  const [, calls] = /^(\d+) calls, [\d,]+ participant minutes, [\d,]+ user minutes, [\d.]+% failed$/m.exec(stdout) ?? []
  expect(Number(calls)).toBeGreaterThan(180)
  expect(stdout).toMatch(/^Calls from \S+ \d\d:\d\d to \S+ \d\d:\d\d \(UTC\)\n/)
  expect(stdout).not.toContain('Not covered')
})

test('report without a store has as much of the list as the period asks for', async () => {
  const { stdout } = await (await reporting('--since', '10m', '--json'))()
  const { since, until, total } = JSON.parse(stdout)
  expect(Date.parse(until) - Date.parse(since)).toBe(600_000)
  expect(total.calls.total).toBeLessThan(60)
  expect(total.blind_seconds).toBe(0)
})

test('report without a store says why a service cannot be read, and fails', async () => {
  const { code, stdout, stderr } = await (await reporting())('wrong')
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('the service answered 401')
})

test('report without a store refuses an unknown target', async () => {
  const { code, stderr } = await (await reporting('--target', 'nosuch'))()
  expect(code).toBe(2)
  expect(stderr).toContain('there is no target nosuch')
})
