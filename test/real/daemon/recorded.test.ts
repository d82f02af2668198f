import { expect, onTestFinished, test, vi } from 'vitest'
import { ruleSchema } from '../../../src/alerts/rule.ts'
import { startWorld } from '../../kit/world/start-world.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'

test('recordings that appear after the calls have ended raise the value of `recorded`, and resolve its alert', async () => {
  const switches = { facts: { recorded_late: 1 } }
  const world = await startWorld({ apiKey: KEY, callsPerMinute: 900, speed: 400, switches })
  onTestFinished(world.close)
  const rule = { name: 'NotRecorded', signal: 'recorded', offset: '0', below: 0.9, clear: 1, min_calls: 10 }
  const { daemon, samples } = await daemonInProcess(
    world.url,
    { sweepInterval: 0.5 },
    { alerts: [ruleSchema.parse(rule)] },
  )
  const value = async () => (await samples()).find(({ name }) => name === 'callwatch_rule_value')?.value
  const firing = async () => JSON.parse(await (await fetch(`${daemon.url}api/v1/state`)).text()).alerts
  await vi.waitFor(async () => expect(await firing()).toMatchObject([{ alert: 'NotRecorded', state: 'firing' }]), WAIT)
  world.setSwitches({ arrivals: false })
  const missing = () => {
    const ended = [...world.expectedCalls().values()].filter(({ status }) => status === 'ended')
    return ended.filter(({ recorded }) => !recorded).length
  }
  await vi.waitFor(async () => expect([await value(), missing()]).toEqual([1, 0]), WAIT)
  await vi.waitFor(async () => expect(await firing()).toEqual([]), WAIT)
})
