import { onTestFinished, expect, test, vi } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { exactFamilies, expectedSeries, seriesName } from '../../../src/simulator/expected/expected-series.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'
import { configTo, daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'

const WAIT = { timeout: 90_000, interval: 250 }

test('with webhooks that are lost, late, doubled, reordered, of another app and forged, the counts are exact and early', async () => {
  const port = await freePort()
  const simulator = await startSimulator({
    apiKey: KEY,
    callsPerMinute: 300,
    speed: 60,
    history: 20,
    switches: { webhookFault: { lost: 0.1, late: 0.1, twice: 0.2, reordered: 0.1, other_app: 0.1, forged: 0.1 } },
  })
  simulator.sendWebhooks(new URL(`http://vendor:secret-password@127.0.0.1:${port}/hooks/production`))
  onTestFinished(() => simulator.close())
  const { targets } = configOf({
    targets: [
      {
        name: 'production',
        app_id: 'simulator',
        base_url: simulator.url,
        api_key: KEY,
        webhook: { username: 'vendor', password: 'secret-password' },
      },
    ],
  })
  const daemon = await daemonInProcess(
    simulator.url,
    { interval: 20 },
    {
      targets,
      http: { host: '127.0.0.1', port: 0, hooks: { host: '127.0.0.1', port } },
    },
  )
  const valueOf = async (name: string, labels: Record<string, string> = {}) =>
    (await daemon.samples())
      .filter(
        (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
      )
      .reduce((sum, { value }) => sum + value, 0)
  await vi.waitFor(async () => expect(await valueOf('callwatch_calls_total')).toBeGreaterThan(0), WAIT)
  // Twice is repeated after ten seconds.
  const outcomes = ['hint', 'duplicate', 'other_app', 'unauthorized']
  await vi.waitFor(async () => {
    for (const outcome of outcomes)
      expect([outcome, await valueOf('callwatch_service_webhooks_total', { outcome })]).not.toEqual([outcome, 0])
    expect(await valueOf('callwatch_detection_lag_seconds_count')).toBeGreaterThan(20)
  }, WAIT)
  // Without hints, three quarters of the ends would be found later. Where the machine stood still, it takes others to show that.
  await vi.waitFor(async () => {
    const found = await valueOf('callwatch_detection_lag_seconds_count')
    expect(await valueOf('callwatch_detection_lag_seconds_bucket', { le: '5' })).toBeGreaterThan(0.6 * found)
  }, WAIT)

  simulator.setSwitches({ arrivals: false })
  await daemon.reload({ poll: configTo(simulator.url, { interval: 1 }).poll })
  await vi.waitFor(async () => {
    const created = Math.min(...simulator.ledger().map(({ at }) => at))
    const wanted = expectedSeries(simulator.ledger(), { created: created - 1e6, baseline: 'count', now: Infinity })
    const samples = (await daemon.samples()).filter(
      ({ name, value }) => value !== 0 && exactFamilies.some((family) => name.startsWith(family)),
    )
    const counted = samples.map(({ name, labels: { target: _target, ...labels }, value }) => [
      seriesName(name, labels),
      expect.closeTo(value, 3),
    ])
    const calls = ([name]: unknown[]) => String(name).startsWith('callwatch_calls_')
    expect(Object.fromEntries([...wanted].filter(calls))).toEqual(Object.fromEntries(counted.filter(calls)))
  }, WAIT)
  expect(JSON.stringify(daemon.log)).not.toMatch(/Robin|secret-password/)
})
