import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { startSimulator, type SimulatorOptions } from '../../../src/simulator/simulator.ts'
import type { MessageView } from '../../../src/notifications/receivers/webhook/webhook-body.ts'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import { configTo, daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const WAIT = { timeout: 60_000, interval: 50 }
const QUIET: SimulatorOptions = { apiKey: KEY, history: 300, callsPerMinute: 1 }

const webhookAt = (url: string): Config['notify']['receivers'][number] => ({
  name: 'webhook',
  type: 'webhook',
  config: { url, headers: {} },
})

/** A simulated service, a receiver of messages, and daemons that start one after the other on one store. */
async function world(options: SimulatorOptions = QUIET) {
  const simulator = await startSimulator(options)
  onTestFinished(simulator.close)
  const messages: MessageView[] = []
  const receiver = await localServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.once('end', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what callwatch posts
      messages.push(JSON.parse(body) as MessageView)
      response.end()
    })
  })
  const path = join(temporaryFolder(), 'callwatch.db')
  const { notify } = configTo(simulator.url)
  const start = (poll: Partial<Config['poll']> = {}, differing: Partial<Config> = {}, resetTarget?: string) =>
    daemonInProcess(
      simulator.url,
      { lookback: 86_400, ...poll },
      {
        store: { path, history: 30 * 86_400 },
        notify: { ...notify, receivers: [webhookAt(receiver.url)] },
        ...differing,
      },
      resetTarget,
    )
  const past = () => messages.flatMap((message) => (message.kind === 'report' ? message : []))
  const reported = (times: number) => vi.waitFor(() => expect(past()).toHaveLength(times), WAIT)
  return { simulator, start, messages, past, reported }
}

describe('a first start', () => {
  test('reports the last day once, also after restarts, and again after --reset-target', async () => {
    const { start, past, reported } = await world()
    const first = await start()
    await reported(1)
    const [message] = past()
    expect(message).toMatchObject({ every: null, report: { rows: [{ target: 'production' }] } })
    expect(message!.report.total.calls.total).toBeGreaterThan(280)
    await first.stop()
    const second = await start()
    await second.morePolls(60)
    expect(past()).toHaveLength(1)
    await second.stop()
    await start({}, {}, 'production')
    await reported(2)
  })

  test('that is stopped in the first poll reports once', async () => {
    const { simulator, start, reported } = await world()
    simulator.setSwitches({ answerSeconds: 0.2 })
    const first = await start({ pageSize: 20 })
    await vi.waitFor(() => expect(first.daemon.targets.loaded()[0]?.ledger.calls.size).toBeGreaterThan(20), WAIT)
    await first.stop()
    simulator.setSwitches({ answerSeconds: 0 })
    await start()
    await reported(1)
  })

  test('with an empty list says that there were no calls', async () => {
    const { past, start, reported } = await world({ ...QUIET, history: 0, callsPerMinute: 0.001 })
    await start()
    await reported(1)
    expect(past()).toMatchObject([
      { summary: 'callwatch watches production: 0 calls, 0 participant minutes, 0 user minutes' },
    ])
  })

  test('with baseline: skip reports nothing', async () => {
    const { messages, start } = await world()
    const daemon = await start({ baseline: 'skip' })
    await daemon.morePolls(60)
    expect(messages).toEqual([])
  })

  test('while an alert would fire raises it, on the calls of the past as well, once a call has finished after it', async () => {
    const { simulator, messages, start } = await world({ ...QUIET, speed: 20 })
    const many = ruleOn({ name: 'calls_finished', window: 86_400 }, { name: 'ManyCalls', threshold: 100 })
    const { daemon } = await start({}, { alerts: [many] })
    simulator.burst({ calls: 1, seconds: 1, outcomes: { canceled: 1 } })
    const alerts = () =>
      messages
        .flatMap((message) => (message.kind === 'alerts' ? message.alerts : []))
        .flatMap((one) => (one.state === 'firing' ? one : []))
    await vi.waitFor(() => expect(alerts()).toHaveLength(1), WAIT)
    const [alert] = alerts()
    expect(alert!.value).toBeGreaterThan(280)
    const { calls, sync } = daemon.targets.loaded()[0]!.ledger
    const ends = Array.from(calls.values(), ({ finish }) => finish?.at ?? Infinity)
    expect(Date.parse(alert!.firing_since) / 1000).toBeGreaterThanOrEqual(
      Math.min(...ends.filter((at) => at >= sync.created)),
    )
  })
})
