import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load-config.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { callwatch, emptyFolder, start } from '../commands/callwatch.ts'
import { readAddress } from '../../src/store/postgres/address.ts'
import { only, readDockerfile } from '../container/dockerfile.ts'

type Service = {
  image?: string
  build?: string
  command?: string[]
  ports?: string[]
  volumes?: string[]
  environment?: string[] | Record<string, string>
  healthcheck?: { test: string[] }
  profiles?: string[]
  network_mode?: string
  depends_on?: string[] | Record<string, { condition: string; required?: boolean }>
  deploy?: { replicas: string }
  user?: string
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  cap_add?: string[]
  privileged?: boolean
  security_opt?: string[]
  mem_limit?: string
  pids_limit?: number
}
type Compose = { services: Record<string, Service>; volumes: Record<string, object> }

const project = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(project, path), 'utf8')
const compose: Compose = parse(read('compose.yaml'))
const { callwatch: daemon, simulator, postgres, prometheus, alertmanager, grafana } = compose.services
const demo = parseEnv(read('config/compose/demo.env'))
const cluster = parseEnv(read('config/compose/cluster.env'))
const dockerfile = readDockerfile(read('Dockerfile'))
/** What each service listens on, by the programs' own defaults. */
const PORTS: Readonly<Record<string, number>> = { prometheus: 9090, alertmanager: 9093, grafana: 3000, postgres: 5432 }
const portOf = (service: string) => PORTS[service] ?? Number(only(dockerfile, 'EXPOSE'))

describe('compose.yaml', () => {
  test('runs our own image, and others by a whole version', () => {
    for (const [name, { image, build }] of Object.entries(compose.services)) {
      if (build === undefined) expect(image, name).toMatch(/^([a-z]+\/[a-z]+:v?\d+\.\d+|postgres:\d+)\.\d+$/)
      else expect([build, image], name).toEqual(['.', undefined])
    }
  })

  test.each(Object.entries(compose.services))('gives %s no rights, and bounds what it may take', (name, service) => {
    const { read_only: isReadOnly, cap_drop, cap_add, privileged, security_opt, mem_limit, pids_limit } = service
    expect({ isReadOnly, cap_drop, cap_add, privileged, security_opt }).toEqual({
      isReadOnly: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(mem_limit).toMatch(/^\d+[mg]$/)
    expect(pids_limit).toBeGreaterThanOrEqual(100)
    // What a program writes beside its volume: SQLite, PostgreSQL's socket, Grafana's log and uploads.
    const written: Record<string, string[]> = {
      callwatch: ['/tmp'],
      postgres: ['/tmp', '/var/run/postgresql'],
      grafana: ['/tmp', '/var/log/grafana'],
    }
    expect(service.tmpfs ?? []).toEqual(written[name] ?? [])
  })

  test('starts no service as root: those whose images would are given a user', () => {
    const users = Object.entries(compose.services).flatMap(([name, { user }]) => (user === undefined ? [] : [name]))
    expect(users).toEqual(['postgres'])
    expect(postgres?.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })

  test('opens each port that a service listens on to this machine, and to no other', () => {
    const open = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => ({ name, port })),
    )
    expect(open.map(({ name }) => name).toSorted()).toEqual(['alertmanager', 'callwatch', 'grafana', 'prometheus'])
    for (const { name, port } of open) expect(filledIn(port, {})).toBe(`127.0.0.1:${portOf(name)}:${portOf(name)}`)
  })

  test('mounts what there is: files read-only, and volumes that are all used', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((one) => one.split(':')))
    const [files, volumes] = [
      mounts.filter(([from]) => from?.startsWith('.')),
      mounts.filter(([from]) => !from?.startsWith('.')),
    ]
    expect(files.length).toBeGreaterThan(3)
    for (const [from = '', , mode] of files) {
      expect(existsSync(join(project, from)), from).toBe(true)
      expect(mode, from).toBe('ro')
    }
    expect(new Set(volumes.map(([from]) => from))).toEqual(new Set(Object.keys(compose.volumes)))
    expect(daemon?.volumes).toEqual([`callwatch:${only(dockerfile, 'VOLUME')}`])
  })

  test('hands callwatch variables that it knows', () => {
    const known = read('src/config/reading/environment.ts')
    expect(daemon?.environment).toContain('CALLWATCH_API_KEY')
    for (const name of [daemon?.environment ?? []].flat()) expect(known).toContain(name)
  })

  test('asks each service for its health where it listens', () => {
    for (const [name, { healthcheck, build }] of Object.entries(compose.services)) {
      // Our own image brings one, of the daemon.
      if (build !== undefined && name !== 'simulator') continue
      const port = name === 'simulator' ? simulatorPort() : portOf(name)
      const asked =
        name === 'postgres' ? `pg_isready --quiet --host=127.0.0.1 --port=${port} ` : `http://127.0.0.1:${port}/`
      expect(healthcheck?.test.join(' '), name).toContain(asked)
    }
  })

  test('names only services that there are', () => {
    const names = Object.keys(compose.services)
    for (const { depends_on: needed = [] } of Object.values(compose.services)) {
      expect(names).toEqual(expect.arrayContaining(Array.isArray(needed) ? needed : Object.keys(needed)))
    }
    const [job] = parse(read('config/prometheus/prometheus.yaml')).scrape_configs
    expect(job.dns_sd_configs).toEqual([expect.objectContaining({ names: ['callwatch'], type: 'A' })])
    expect(job.dns_sd_configs[0].port).toBe(portOf('callwatch'))
    const addresses = [
      'config/prometheus/prometheus.yaml',
      'config/grafana/provisioning/datasources/callwatch.yaml',
    ].flatMap((path) => [
      ...read(path)
        .replaceAll(/#.*$/gm, '')
        .matchAll(/\b([a-z]+):(\d{4})\b/g),
    ])
    expect(addresses.length).toBe(3)
    for (const [, name = '', port] of addresses) {
      expect(names).toContain(name)
      expect(Number(port)).toBe(portOf(name))
    }
  })

  test('gives Grafana the dashboard where it looks for one, on a data source that there is', () => {
    const mounted = new Map(
      (grafana?.volumes ?? []).map((one) => one.split(':')).map(([from = '', to = '']) => [to, from]),
    )
    const home =
      new Map(Object.entries(grafana?.environment ?? {})).get('GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH') ?? ''
    expect(mounted.get(home)).toBe('./config/grafana/callwatch.json')
    const { providers } = parse(read('config/grafana/provisioning/dashboards/callwatch.yaml'))
    expect(home.startsWith(`${providers[0].options.path}/`)).toBe(true)
    for (const kind of ['datasources', 'dashboards']) {
      expect(mounted.get(`/etc/grafana/provisioning/${kind}`)).toBe(`./config/grafana/provisioning/${kind}`)
    }
  })

  test.each([
    ['prometheus', prometheus, 'prometheus'],
    ['alertmanager', alertmanager, 'prometheus-alertmanager'],
  ])(
    'gives %s options that it has, and its configuration and data where they are mounted',
    (_name, service, program) => {
      const command = service?.command ?? []
      const option = (name: string) => command.find((one) => one.startsWith(`--${name}=`))?.split('=')[1] ?? ''
      const targets = service?.volumes?.map((one) => one.split(':')[1] ?? '') ?? []
      const inside = (path: string) => targets.some((target) => path === target || path.startsWith(`${target}/`))
      expect(inside(option('config.file'))).toBe(true)
      expect(inside(option(program === 'prometheus' ? 'storage.tsdb.path' : 'storage.path'))).toBe(true)
      const [config = ''] = service?.volumes ?? []
      const [from = '', to = ''] = config.split(':')
      expect(existsSync(join(project, option('config.file').replace(to, from)))).toBe(true)
      const { error, stdout, stderr } = spawnSync(program, ['--help'], { encoding: 'utf8' })
      // Where it is not installed, another test says so.
      if (error !== undefined) return
      for (const one of command) expect(`${stdout}${stderr}`).toContain(one.split('=')[0])
    },
  )

  test("Alertmanager's configuration is valid", (context) => {
    const { error, status, stdout, stderr } = spawnSync(
      'amtool',
      ['check-config', join(project, 'config/compose/alertmanager.yaml')],
      { encoding: 'utf8' },
    )
    if (error !== undefined && process.env['CI'] !== 'true') {
      context.skip('amtool is not on the PATH: apt-get install prometheus-alertmanager')
    }
    expect(status, `${stdout}${stderr}`).toBe(0)
  })
})

describe('the demo of compose.yaml', () => {
  test('has the simulator where the daemon may speak plain http to it: on its own loopback', () => {
    expect(simulator?.profiles).toEqual(['demo'])
    expect(simulator?.network_mode).toBe('service:callwatch')
    expect(Object.values(compose.services).filter(({ profiles }) => profiles !== undefined)).toEqual([
      simulator,
      postgres,
    ])
    expect(read('compose.yaml')).toContain('--env-file config/compose/demo.env --profile demo up')
  })

  test('gives the daemon a configuration that it accepts, of the simulator', () => {
    const { targets, http } = loadConfig({ env: handedOver(demo), cwd: emptyFolder() })
    expect(targets.map(({ baseUrl }) => baseUrl)).toEqual([`http://127.0.0.1:${simulatorPort()}/v3`])
    expect([http.host, http.port]).toEqual(['0.0.0.0', portOf('callwatch')])
  })

  test('starts a simulator that takes these options, and whose key the daemon has', { timeout: 30_000 }, async () => {
    const [command = '', ...options] = simulator?.command ?? []
    const { printed } = start([command, ...options, '--port', '0'])
    const [, url = ''] = await printed(/calls service: (\S+)/)
    const probed = await callwatch(['check', '--probe'], { env: { ...handedOver(demo), CALLWATCH_BASE_URL: url } })
    expect([probed.code, probed.stderr]).toEqual([0, ''])
    const switches = await fetch(`${new URL(url).origin}/_simulator/switches`)
    expect(switches.status).toBe(200)
  })

  test('finds out by its health check when the simulator is gone', { timeout: 30_000 }, async () => {
    const [, program = '', ...args] = simulator?.healthcheck?.test ?? []
    expect(program).toBe('node')
    const { port, close } = await startSimulator()
    onTestFinished(close)
    const healthy = async () => {
      const at = args.map((one) => one.replace(String(simulatorPort()), String(port)))
      const [code] = await once(spawn(process.execPath, at, { stdio: 'ignore' }), 'exit')
      return Number(code)
    }
    expect(await healthy()).toBe(0)
    await close()
    expect(await healthy()).toBe(1)
  })
})

describe('the cluster of compose.yaml', () => {
  const password = 'Secret4711'
  const app = {
    CALLWATCH_APP_ID: 'a1',
    CALLWATCH_REGION: 'us',
    CALLWATCH_API_KEY: 'k',
    CALLWATCH_DB_PASSWORD: password,
  }

  test('starts three daemons on ports of their own, once the database is there, and one daemon where it is not', () => {
    expect(postgres?.profiles).toEqual(['cluster'])
    expect(read('compose.yaml')).toContain('--env-file config/compose/cluster.env --profile cluster up')
    expect(daemon?.depends_on).toEqual({ postgres: { condition: 'service_healthy', required: false } })
    const replicas = daemon?.deploy?.replicas ?? ''
    expect([filledIn(replicas, {}), filledIn(replicas, cluster)]).toEqual(['1', '3'])
    const [port = ''] = daemon?.ports ?? []
    const [, first, last] = /^127\.0\.0\.1:(\d+)-(\d+):9464$/.exec(filledIn(port, cluster)) ?? []
    expect([Number(first), Number(last)]).toEqual([portOf('callwatch'), portOf('callwatch') + 2])
  })

  test('gives the daemons the address of the database, with the user and the password that it is made with', () => {
    const variables = { ...app, ...cluster }
    const env = Object.fromEntries(
      Object.entries(handedOver(variables)).map(([name, value]) => [name, filledIn(value, variables)]),
    )
    // As in the image.
    const { store } = loadConfig({ env: { ...env, CALLWATCH_STORE_PATH: '/data/callwatch.db' }, cwd: emptyFolder() })
    if (!('url' in store)) throw new Error('the daemons have no store.url')
    const { hosts, user, database, ...address } = readAddress(store.url)
    expect(hosts).toEqual([{ host: 'postgres', port: portOf('postgres') }])
    const made = Object.fromEntries(
      Object.entries(postgres?.environment ?? {}).map(([name, value]) => [name, filledIn(value, variables)]),
    )
    expect(made).toEqual({ POSTGRES_USER: user, POSTGRES_DB: database, POSTGRES_PASSWORD: address.password })
    expect(address.password).toBe(password)
    const asked = postgres?.healthcheck?.test.join(' ')
    expect(asked).toContain(`--username=${user} --dbname=${database}`)
  })

  test('keeps no password, and does not start without one', () => {
    const made = new Map(Object.entries(postgres?.environment ?? {}))
    // The image refuses an empty one.
    expect(filledIn(made.get('POSTGRES_PASSWORD') ?? '?', cluster)).toBe('')
    expect(read('config/compose/cluster.env')).not.toMatch(/^CALLWATCH_DB_PASSWORD/m)
  })
})

/** The daemon's environment of these variables. */
function handedOver(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [daemon?.environment ?? []].flat().map(String)
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (names.includes(name) ? [[name, value ?? '']] : [])),
  )
}

/** A text with its `${NAME}` and `${NAME:-default}` filled in, as Compose does it. */
function filledIn(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name: string, otherwise = '') => variables[name] || otherwise,
  )
}

function simulatorPort(): number {
  const command = simulator?.command ?? []
  return Number(command[command.indexOf('--port') + 1])
}
