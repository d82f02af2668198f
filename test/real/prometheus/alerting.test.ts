import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Rule } from '../../../src/alerts/rule.ts'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import {
  missingPrograms as missingAlertmanager,
  startAlertmanager,
  type WebhookNotification,
} from '../../kit/notifications/receivers/alertmanager/alertmanager-process.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { missingPrograms, prometheusIn, SHIPPED } from '../../kit/prometheus/prometheus-process.ts'

const WAIT = { timeout: 60_000, interval: 100 }
/** For how long Prometheus takes a series to be there that is not scraped, five minutes by default (seconds). */
const LOOKBACK = 10

/** The shipped name, on what the test decides: whether a call has ever begun. */
const FIRES: Rule = { ...ANY_CALL, name: 'NoCalls', severity: 'warning' }
const IS_QUIET: Rule = { ...FIRES, threshold: 1e9, clear: 1e9 }
const OWN: Rule = { ...ANY_CALL, name: 'Own' }

inPostgres('a Prometheus with the shipped rules, and an Alertmanager', ({ newDatabase }) => {
  /** Two daemons on one database in the job `callwatch`, and one by itself in the job `other`. */
  async function started() {
    const service = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 20, history: 50 })
    onTestFinished(service.close)
    const [a, b] = ['a', 'b'].map((name): TargetConfig => {
      return { name, baseUrl: service.url, apiKey: KEY, query: { app: name } }
    })
    const store = { url: await newDatabase(), lease: 2, history: 86_400 }
    const start = (config: Partial<Config>) =>
      daemonInProcess(service.url, { interval: 0.2 }, { alerts: [IS_QUIET], ...config })
    const one = await start({ targets: [a!, b!], store })
    const two = await start({ targets: [a!, b!], store })
    const other = await start({ targets: [a!] })
    const scraped = await Promise.all([one, two, other].map(scrapedAs))
    const alertmanager = await startAlertmanager({
      route: { group_by: ['...'], group_wait: '0s', group_interval: '1s' },
    })
    const folder = temporaryFolder()
    cpSync(SHIPPED, folder, { recursive: true })
    const rules = join(folder, 'callwatch-alerts.yaml')
    writeFileSync(rules, readFileSync(rules, 'utf8').replace(/(?<=CallwatchNoDaemon\n.*\n +for: )2m/, '4s'))
    const [first, second, third] = scraped.map(({ address }) => address)
    const jobs = { callwatch: [first!, second!], other: [third!] }
    const { child, exited, asked } = prometheusIn(
      folder,
      jobs,
      new URL(alertmanager.url).host,
      `--query.lookback-delta=${LOOKBACK}s`,
    )
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exited
    })
    const another = () => start({ targets: [a!, b!], store })
    return { one, two, other, another, scraped, query: (await asked()).query, ...alertmanager }
  }

  test('says what the daemons say, whatever becomes of them', async ({ skip }) => {
    const missing = [...missingPrograms, ...missingAlertmanager]
    if (missing.length > 0 && process.env['CI'] !== 'true') skip(`${missing.join(', ')} not on the PATH`)
    const { one, two, other, another, scraped, query, notifications } = await started()
    const [first, second] = scraped.map(({ behind }) => behind)
    const isSaid = (expected: Said) => vi.waitFor(() => expect(saidIn(notifications)).toEqual(expected), WAIT)
    const scrapes = async (more: number) => {
      const count = async () => (await query('count_over_time(up{job="other"}[1h])'))[0]?.values[0] ?? 0
      const before = await count()
      await vi.waitFor(async () => expect(await count()).toBeGreaterThan(before + more), WAIT)
    }
    /** So many alerts fire at each second of it. */
    const continuously = async (alerts: number, meanwhile: () => Promise<unknown>) => {
      const began = performance.now()
      await meanwhile()
      const seconds = Math.ceil((performance.now() - began) / 1000)
      const series = await query('ALERTS{alertname="CallwatchNoCalls", alertstate="firing"}', { seconds })
      expect(series.map(({ values }) => values.length)).toEqual(Array.from({ length: alerts }, () => seconds + 1))
    }
    const owns = ({ samples }: DaemonInProcess, targets: number) =>
      vi.waitFor(async () => {
        const shown = (await samples()).filter(({ name }) => name === 'callwatch_tracked_calls')
        expect(shown).toHaveLength(targets)
      }, WAIT)
    await vi.waitFor(async () => expect(await query('up == 1')).toHaveLength(3), WAIT)

    await Promise.all([one, two].map((each) => each.reload({ alerts: [FIRES, OWN] })))
    const fires = { 'callwatch a CallwatchNoCalls': ['firing'], 'callwatch b CallwatchNoCalls': ['firing'] }
    await isSaid({ ...fires, 'callwatch a CallwatchRule Own': ['firing'], 'callwatch b CallwatchRule Own': ['firing'] })

    // A rule is removed while it fires.
    await Promise.all([one, two].map((each) => each.reload({ alerts: [FIRES] })))
    const removed = ['firing', 'resolved']
    const own = { 'callwatch a CallwatchRule Own': removed, 'callwatch b CallwatchRule Own': removed }
    await isSaid({ ...fires, ...own })

    // A scrape fails, and then an owner dies: the other daemon takes over.
    await Promise.all([owns(one, 1), owns(two, 1)])
    await scrapes(1)
    await continuously(2, async () => {
      second!.isGone = true
      await scrapes(2)
      second!.isGone = false
      await scrapes(2)
      first!.isGone = true
      one.kill()
      await owns(two, 2)
      await scrapes(2)
    })
    await isSaid({ ...fires, ...own })

    // It ends at its new owner, and fires once more.
    await two.reload({ alerts: [IS_QUIET] })
    const ended = { 'callwatch a CallwatchNoCalls': removed, 'callwatch b CallwatchNoCalls': removed }
    await isSaid({ ...ended, ...own })
    await Promise.all([two, other].map((each) => each.reload({ alerts: [FIRES] })))
    const again = ['firing', 'resolved', 'firing']
    const firesAgain = { ...own, 'callwatch a CallwatchNoCalls': again, 'callwatch b CallwatchNoCalls': again }
    await isSaid({ ...firesAgain, 'other a CallwatchNoCalls': ['firing'] })

    // The last daemon of its job dies, for longer than Prometheus takes its series to be there.
    second!.isGone = true
    two.kill()
    const isGone = { ...firesAgain, 'callwatch CallwatchNoDaemon': ['firing'] }
    await isSaid({ ...isGone, 'other a CallwatchNoCalls': ['firing'] })
    await continuously(3, () => scrapes(LOOKBACK))
    await other.reload({ alerts: [IS_QUIET] })
    await isSaid({ ...isGone, 'other a CallwatchNoCalls': removed })

    // A daemon is back, at which the alerts end.
    second!.daemon = (await another()).daemon
    second!.isGone = false
    await isSaid({
      ...own,
      'callwatch a CallwatchNoCalls': [...again, 'resolved'],
      'callwatch b CallwatchNoCalls': [...again, 'resolved'],
      'callwatch CallwatchNoDaemon': removed,
      'other a CallwatchNoCalls': removed,
    })
  })
})

type Said = Record<string, string[]>

/** Each alert with what was said of it, one after the other. */
function saidIn(notifications: readonly WebhookNotification[]): Said {
  const all = notifications.flatMap(({ alerts }) => alerts)
  const byAlert = Map.groupBy(all, ({ labels: { alertname, job, target, alert = '' } }) =>
    [job, target, alertname, alertname === 'CallwatchRule' ? alert : ''].filter(Boolean).join(' '),
  )
  const changes = [...byAlert].map(([name, said]) => {
    return [name, said.map(({ status }) => status).filter((status, i, each) => status !== each[i - 1])] as const
  })
  return Object.fromEntries(changes)
}

/** An address at which Prometheus scrapes a daemon, until it is gone. */
async function scrapedAs({ daemon }: DaemonInProcess) {
  const behind = { daemon, isGone: false }
  const { port } = await localServer((request, response) => {
    if (behind.isGone) {
      response.destroy()
      return
    }
    const { accept = '' } = request.headers
    const scraped = fetch(`${behind.daemon.url}metrics`, { headers: { accept } }).then(async (answer) => {
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      response.end(await answer.text())
    })
    // The daemon ended meanwhile.
    scraped.catch(() => response.destroy())
  })
  return { behind, address: `127.0.0.1:${port}` }
}
