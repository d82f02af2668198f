import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ENV, healthOf, podman, removeContainers, ROOT, run, start } from '../podman.ts'
import { countedMoreThan } from './counters.ts'

const project = join(import.meta.dirname, '../../../..')
const WAIT = { timeout: 90_000, interval: 500 }

describe.skipIf(ROOT === '')('compose.yaml', { timeout: 240_000 }, () => {
  let service: ReturnType<typeof spawn>
  let down = async () => {}
  beforeAll(async () => {
    service = spawn('podman', ['system', 'service', '--time=0', ENV.DOCKER_HOST], { env: ENV, stdio: 'ignore' })
    await vi.waitFor(() => expect(existsSync(ENV.DOCKER_HOST.replace('unix://', ''))).toBe(true), WAIT)
  })
  afterEach(() => down(), 60_000)
  afterAll(async () => {
    service.kill()
    await once(service, 'exit')
  })

  test('demo: the simulated calls are counted, and Prometheus scrapes them and knows Alertmanager', async () => {
    const compose = composeOf('demo')
    await compose.up('callwatch', 'simulator', 'prometheus', 'alertmanager')
    await countedMoreThan(0, 9464)
    await vi.waitFor(async () => {
      expect(await query('callwatch_up')).toEqual(['1'])
      expect(await query('count(callwatch_calls_started_total)')).not.toEqual([])
    }, WAIT)
    expect((await prometheus<{ activeAlertmanagers: object[] }>('alertmanagers')).activeAlertmanagers).toEqual([
      { url: 'http://alertmanager:9093/api/v2/alerts' },
    ])
    expect((await prometheus<{ groups: object[] }>('rules')).groups.length).toBeGreaterThan(1)
    expect((await fetch('http://127.0.0.1:9093/-/ready')).status).toBe(200)
    expect(compose.containers()).toHaveLength(4)
    for (const name of compose.containers()) await vi.waitFor(() => expect(healthOf(name), name).toBe('healthy'), WAIT)
    podman('stop', 'callwatch-callwatch-1')
    expect(podman('inspect', '--format={{.State.ExitCode}}', 'callwatch-callwatch-1')).toBe('0')
  })

  test('cluster: three daemons on PostgreSQL poll all targets, are scraped, and take over those of one that stops', async () => {
    const targets = ['a', 'b', 'c', 'd', 'e', 'f']
    // As compose.yaml says: a file for what has no variable.
    const each = targets.map((name) => ({
      name,
      base_url: SERVICE,
      api_key: 'simulator-full-access',
      query: { app: name },
    }))
    const config = join(ROOT, 'callwatch.yaml')
    writeFileSync(config, JSON.stringify({ targets: each, poll: { interval: '1s' } }))
    const override = {
      environment: ['CALLWATCH_CONFIG=/etc/callwatch.yaml'],
      volumes: [`${config}:/etc/callwatch.yaml:ro`],
    }
    const daemons = ['callwatch', 'callwatch-2', 'callwatch-3']
    const services = Object.fromEntries(daemons.map((name) => [name, override]))
    writeFileSync(join(ROOT, 'override.yaml'), JSON.stringify({ services }))
    const compose = composeOf('cluster', join(ROOT, 'override.yaml'))
    await compose.up(...daemons, 'postgres', 'prometheus')

    // Plain HTTP is for loopback only, so each has a service of its own there.
    for (const name of daemons) {
      const service = ['localhost/callwatch', 'simulate', '--port', '8080']
      start(`${name}-service`, `--network=container:callwatch-${name}-1`, ...service)
    }
    const before = await vi.waitFor(async () => {
      const [status = []] = await Promise.all([9464, 9465, 9466].map(statusAt))
      expect(status.map(({ name, up }) => [name, up])).toEqual(targets.map((name) => [name, true]))
      expect(new Set(status.map(({ owner }) => owner)).size).toBe(3)
      return status
    }, WAIT)
    await vi.waitFor(async () => {
      expect(await query('count(up{job="callwatch"} == 1)')).toEqual(['3'])
      expect(await query('sum(callwatch_targets_owned)')).toEqual(['6'])
    }, WAIT)

    podman('stop', 'callwatch-callwatch-1')
    expect(podman('inspect', '--format={{.State.ExitCode}}', 'callwatch-callwatch-1')).toBe('0')
    await vi.waitFor(async () => {
      const status = await statusAt(9465)
      expect(new Set(status.map(({ owner }) => owner)).size).toBe(2)
      for (const [index, { name, up, commit }] of status.entries()) {
        expect([name, up]).toEqual([targets[index], true])
        expect(commit, name).toBeGreaterThan(before[index]!.commit)
      }
    }, WAIT)
  })

  function composeOf(profile: 'demo' | 'cluster', ...more: string[]) {
    const files = [join(project, 'compose.yaml'), ...more].flatMap((file) => ['--file', file])
    const settings = ['--env-file', join(project, `config/compose/${profile}.env`), '--profile', profile]
    const compose = (...args: string[]) =>
      run(join(ROOT, 'apt/usr/libexec/docker/cli-plugins/docker-compose'), [...files, ...settings, ...args], {
        env: { ...ENV, CALLWATCH_DB_PASSWORD: 'Secret4711' },
      })
    const containers = () =>
      podman('ps', '--format={{.Names}}', '--sort=names')
        .split('\n')
        .filter((name) => name !== '')
    down = async () => {
      removeContainers()
      await compose('down', '--volumes', '--timeout=0')
    }
    return {
      containers,
      /** Starts services; meanwhile their health is checked, as systemd would have it done. */
      up: async (...services: string[]) => {
        const check = () => {
          for (const name of containers()) if (name.includes('postgres')) healthOf(name)
        }
        const checks = setInterval(check, 1000)
        const starting = compose('up', '--detach', '--no-build', '--pull=never', ...services)
        await starting.finally(() => clearInterval(checks))
      },
    }
  }
})

const SERVICE = 'http://127.0.0.1:8080/v3'

type Status = { name: string; up: boolean; owner?: string; commit: number }

async function statusAt(port: number): Promise<Status[]> {
  const { targets } = await json<{ targets: Status[] }>(`http://127.0.0.1:${port}/api/v1/state`)
  return targets
}

async function prometheus<Data>(path: string): Promise<Data> {
  const { data } = await json<{ data: Data }>(`http://127.0.0.1:9090/api/v1/${path}`)
  return data
}

/** The values that an expression has in Prometheus. */
async function query(expression: string): Promise<string[]> {
  type Answer = { result: { value: [number, string] }[] }
  const { result } = await prometheus<Answer>(`query?query=${encodeURIComponent(expression)}`)
  return result.map(({ value }) => value[1])
}

async function json<Answer>(url: string): Promise<Answer> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what programs that we started answer
  return (await (await fetch(url)).json()) as Answer
}
