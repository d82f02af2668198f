import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify, parse } from 'yaml'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { eventually } from '../eventually.ts'
import { SECRET } from '../events/webhooks/any-webhook.ts'

const project = join(import.meta.dirname, '../../..')
export const SHIPPED = join(project, 'config/prometheus')

/** Two targets, so that the tests notice a query that mixes them up. */
export const TARGETS = ['production', 'staging']
/** How often Prometheus scrapes and evaluates here (seconds). */
export const SCRAPE_INTERVAL = 1
/** Scrapes after which every rate has a value, also of calls that have to end first. */
const SCRAPES = 14

/** The required programs that are not on the PATH. */
export const missingPrograms = ['prometheus', 'promtool'].filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
)

export type RunningPrometheus = {
  /** URL of the daemon's page, with a slash at the end. */
  daemon: string
  /** Runs an instant query, or a query over the last seconds. */
  query: (expr: string, range?: { seconds: number }) => Promise<Series[]>
  /** Returns `data` of a response of Prometheus' API. */
  api: (path: string) => Promise<unknown>
  stop: () => Promise<void>
}

/** A series, with its values in the order of time. */
export type Series = { labels: Record<string, string>; values: number[] }

/**
 * A Prometheus with the configuration and the rules in this folder, of which only intervals and addresses differ.
 *
 * @param jobs the addresses of the daemons of each job
 * @param alertmanager its address
 */
export function prometheusIn(
  folder: string,
  jobs: Readonly<Record<string, readonly string[]>>,
  alertmanager?: string,
  ...args: readonly string[]
) {
  const config = parse(readFileSync(join(folder, 'prometheus.yaml'), 'utf8'))
  const interval = `${SCRAPE_INTERVAL}s`
  config.global = { scrape_interval: interval, evaluation_interval: interval }
  const { dns_sd_configs: _, ...job } = config.scrape_configs[0]
  config.scrape_configs = Object.entries(jobs).map(([name, targets]) => {
    return { ...job, job_name: name, static_configs: [{ targets }] }
  })
  if (alertmanager === undefined) delete config.alerting
  else config.alerting.alertmanagers = [{ static_configs: [{ targets: [alertmanager] }] }]
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config))
  const child = start(
    'prometheus',
    ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', '--web.listen-address=127.0.0.1:0', ...args],
    folder,
  )
  /** How to ask it, once it listens. */
  const asked = async () => {
    const api = apiOf(`http://${await child.logged(/"Listening on" address=(127\.0\.0\.1:\d+)/)}`)
    return { api, query: queryWith(api) }
  }
  return { ...child, asked }
}

/**
 * Starts a daemon that polls a busy and healthy simulator, and a Prometheus with the shipped configuration that has
 * scraped the daemon for some seconds. Only the intervals and addresses of the configuration differ.
 */
export async function startPrometheus(): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-prometheus-'))
  const children: Child[] = []
  const simulator = await startSimulator({
    seed: 5,
    speed: 300,
    callsPerMinute: 600,
    history: 200,
    requestsPerMinute: 100_000,
  })
  let sending: NodeJS.Timeout | undefined
  const stop = async () => {
    clearInterval(sending)
    for (const { child, exited } of children.toReversed()) {
      child.kill('SIGKILL')
      await exited
    }
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    writeFileSync(join(folder, 'callwatch.yaml'), daemonConfig(simulator.url, simulator.keys.fullAccess))
    const daemon = start(process.execPath, [join(project, 'src/main.ts'), 'run', '--config', 'callwatch.yaml'], folder)
    children.push(daemon)
    const page = await daemon.logged(/"url":"(http:[^"]+)"/)

    sending = setInterval(() => sendWebhooks(page), 500)
    cpSync(SHIPPED, folder, { recursive: true })
    const prometheus = prometheusIn(folder, { callwatch: [new URL(page).host] })
    children.push(prometheus)
    const { query, api } = await prometheus.asked()
    await eventually(async () => {
      const [scrapes] = await query('count_over_time(up{job="callwatch"}[10m])')
      return (scrapes?.values[0] ?? 0) >= SCRAPES ? true : undefined
    }, 90)
    return { daemon: page, query, api, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const VENDOR = { username: 'vendor', password: 'p' }

/** Sends a webhook for each target. */
function sendWebhooks(page: string): void {
  const authorization = `Basic ${btoa(`${VENDOR.username}:${VENDOR.password}`)}`
  const body = JSON.stringify({ trigger: 'call_ended', data: { sessionId: String(performance.now()) } })
  for (const name of TARGETS)
    void fetch(`${page}hooks/${name}`, { method: 'POST', headers: { authorization }, body }).catch(() => undefined)
}

function daemonConfig(url: string, key: string): string {
  const targets = TARGETS.map((name) => ({ name, base_url: url, api_key: key, webhook: VENDOR }))
  return stringify({
    targets,
    poll: { interval: '1s', page_size: 50, sweep_interval: '4s', max_requests_per_minute: 20_000 },
    store: { path: 'callwatch.db' },
    // Nothing listens there: what waits for it is shown as well.
    events: { webhooks: [{ name: 'crm', url: 'http://127.0.0.1:9/', secret: SECRET }] },
    http: { host: '127.0.0.1', port: 0 },
  })
}

type Child = { child: ChildProcess; exited: Promise<unknown>; logged: (pattern: RegExp) => Promise<string> }

function start(program: string, args: readonly string[], cwd: string): Child {
  const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const logged = (pattern: RegExp) =>
    eventually(() => {
      if (child.exitCode !== null) throw new Error(`${program} ended:\n${output}`)
      return Promise.resolve(pattern.exec(output)?.[1])
    }, 60)
  return { child, exited, logged }
}

function apiOf(url: string): RunningPrometheus['api'] {
  return async (path) => {
    const response = await fetch(`${url}/api/v1/${path}`)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape of every response of Prometheus' API
    const body = (await response.json()) as { status: string; error?: string; data: unknown }
    if (body.status !== 'success') throw new Error(`${path}: ${body.error ?? response.statusText}`)
    return body.data
  }
}

type Result = { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }

function queryWith(api: RunningPrometheus['api']): RunningPrometheus['query'] {
  return async (expr, range) => {
    const parameters = new URLSearchParams({ query: expr })
    if (range !== undefined) {
      const now = Date.now() / 1000
      for (const [name, value] of Object.entries({ start: now - range.seconds, end: now, step: SCRAPE_INTERVAL })) {
        parameters.set(name, String(value))
      }
    }
    const kind = range === undefined ? 'query' : 'query_range'
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape of the result of a query
    const { result } = (await api(`${kind}?${String(parameters)}`)) as { result: Result[] }
    return result.map(({ metric, value, values = value === undefined ? [] : [value] }) => ({
      labels: metric,
      values: values.map(([, text]) => Number(text)),
    }))
  }
}
