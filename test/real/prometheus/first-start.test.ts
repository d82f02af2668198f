import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { startDaemonProcess } from '../../kit/daemon-process.ts'
import { eventually } from '../../kit/eventually.ts'
import { missingPrograms, prometheusIn, SHIPPED } from '../../kit/prometheus/prometheus-process.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const skipped = missingPrograms.length > 0 && process.env['CI'] !== 'true'

test.skipIf(skipped)(
  'a first poll that counts the past is no increase for a Prometheus that scrapes each second',
  async () => {
    const folder = temporaryFolder()
    const simulator = await startSimulator({ history: 1000, callsPerMinute: 1, requestsPerMinute: 100_000 })
    onTestFinished(simulator.close)
    // The first poll takes about ten seconds.
    simulator.setSwitches({ answerSeconds: 0.5 })
    const config = join(folder, 'callwatch.yaml')
    writeFileSync(
      config,
      stringify({
        targets: [{ name: 'production', base_url: simulator.url, api_key: simulator.keys.fullAccess }],
        poll: { interval: '1s', page_size: 50, max_requests_per_minute: 20_000 },
        store: { path: join(folder, 'callwatch.db') },
        http: { host: '127.0.0.1', port: 0 },
      }),
    )
    const daemon = await startDaemonProcess(config, join(folder, 'order'))
    onTestFinished(async () => void (await daemon.end('SIGKILL')))
    cpSync(SHIPPED, folder, { recursive: true })
    const prometheus = prometheusIn(folder, { callwatch: [new URL(daemon.url).host] })
    onTestFinished(async () => {
      prometheus.child.kill('SIGKILL')
      await prometheus.exited
    })
    const { query } = await prometheus.asked()
    const valueOf = async (expr: string) => (await query(expr))[0]?.values[0] ?? NaN
    await eventually(async () => ((await valueOf('sum(callwatch_calls_total)')) > 900 ? true : undefined), 90)
    // Some scrapes came before the first successful poll, and found the target without its counters.
    expect(
      await valueOf('count_over_time(callwatch_up[5m]) - on(target) count_over_time(callwatch_calls_lost_total[5m])'),
    ).toBeGreaterThan(2)
    await eventually(
      async () => ((await valueOf('count_over_time(callwatch_calls_lost_total[5m])')) >= 5 ? true : undefined),
      60,
    )
    const finished = await valueOf('sum(callwatch_calls_total)')
    expect(finished).toBeGreaterThan(900)
    expect(await valueOf('sum(increase(callwatch_calls_total[5m]))')).toBeLessThan(20)
    expect(await valueOf('sum(increase(callwatch_participant_minutes_total[5m]))')).toBeLessThan(200)
  },
)
