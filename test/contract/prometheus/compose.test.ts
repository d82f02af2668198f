import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { placesOf } from '../../../src/schema/path.ts'
import { variables } from '../../../src/schema/variables.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { callwatch, emptyFolder, start } from '../../kit/commands/callwatch.ts'
import { readAddress } from '../../../src/store/postgres/address.ts'
import { only, readDockerfile } from '../../kit/container/dockerfile.ts'

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
  networks?: { default: { aliases: string[] } }
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

const project = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(project, path), 'utf8')
const compose: Compose = parse(read('compose.yaml'), { merge: true })
const { callwatch: daemon, simulator, postgres, prometheus, alertmanager, grafana } = compose.services
const demo = parseEnv(read('config/compose/demo.env'))
const cluster = parseEnv(read('config/compose/cluster.env'))
const dockerfile = readDockerfile(read('Dockerfile'))
/** The default ports of the programs. */
const PORTS: Readonly<Record<string, number>> = { prometheus: 9090, alertmanager: 9093, grafana: 3000, postgres: 5432 }
const portOf = (service: string) => PORTS[service] ?? Number(only(dockerfile, 'EXPOSE'))

describe('compose.yaml', () => {
  test('builds the image of callwatch, and pins all other images to a full version', () => {
    for (const [name, { image, build }] of Object.entries(compose.services)) {
      if (build === undefined) expect(image, name).toMatch(/^([a-z]+\/[a-z]+:v?\d+\.\d+|postgres:\d+)\.\d+$/)
      else expect([build, image], name).toEqual(['.', undefined])
    }
  })

  test.each(Object.entries(compose.services))('gives %s no privileges, and limits its resources', (name, service) => {
    const { read_only: isReadOnly, cap_drop, cap_add, privileged, security_opt, mem_limit, pids_limit } = service
    expect({ isReadOnly, cap_drop, cap_add, privileged, security_opt }).toEqual({
      isReadOnly: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(mem_limit).toMatch(/^\d+[mg]$/)
    expect(pids_limit).toBeGreaterThanOrEqual(100)
    // Files outside the volumes: temporary files of SQLite, the log and uploads of Grafana.
    const written: Record<string, string[]> = {
      callwatch: ['/tmp'],
      'callwatch-2': ['/tmp'],
      'callwatch-3': ['/tmp'],
      postgres: ['/tmp'],
      grafana: ['/tmp', '/var/log/grafana'],
    }
    expect(service.tmpfs ?? []).toEqual(written[name] ?? [])
  })

  test('starts no service as root, and sets a user where the image does not', () => {
    const users = Object.entries(compose.services).flatMap(([name, { user }]) => (user === undefined ? [] : [name]))
    expect(users).toEqual(['postgres'])
    expect(postgres?.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })

  test('publishes the port of each service on the loopback address alone', () => {
    const open = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port}`),
    )
    const published = ['alertmanager', 'callwatch', 'grafana', 'prometheus'].map((name) => {
      return `${name} 127.0.0.1:${portOf(name)}:${portOf(name)}`
    })
    for (const number of [2, 3]) {
      published.push(`callwatch-${number} 127.0.0.1:${portOf('callwatch') + number - 1}:${portOf('callwatch')}`)
    }
    expect(open.toSorted()).toEqual(published.toSorted())
  })

  test('mounts existing files read-only, and every volume', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((one) => one.split(':')))
    const [files, volumes] = [
      mounts.filter(([from]) => from?.startsWith('.')),
      // The others have no name: the folder of PostgreSQL's socket.
      mounts.filter(([from]) => !/^[./]/.test(from!)),
    ]
    expect(files.length).toBeGreaterThan(3)
    for (const [from = '', , mode] of files) {
      expect(existsSync(join(project, from)), from).toBe(true)
      expect(mode, from).toBe('ro')
    }
    expect(new Set(volumes.map(([from]) => from))).toEqual(new Set(Object.keys(compose.volumes)))
    expect(daemon?.volumes).toEqual([`callwatch:${only(dockerfile, 'VOLUME')}`])
  })

  test('passes only environment variables that callwatch knows', () => {
    const known = placesOf(configSchema, variables).map(({ meta }) => meta.name)
    expect(daemon?.environment).toContain('CALLWATCH_API_KEY')
    for (const name of [daemon?.environment ?? []].flat()) expect(known).toContain(name)
  })

  test('checks the health of each service on its port', () => {
    for (const [name, { healthcheck, build }] of Object.entries(compose.services)) {
      // The image of callwatch has a health check of the daemon.
      if (build !== undefined && name !== 'simulator') continue
      const port = name === 'simulator' ? simulatorPort() : portOf(name)
      const check =
        name === 'postgres' ? `pg_isready --quiet --host=127.0.0.1 --port=${port} ` : `http://127.0.0.1:${port}/`
      expect(healthcheck?.test.join(' '), name).toContain(check)
    }
  })

  test('refers only to existing services', () => {
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

  test('mounts the dashboard and its data source where Grafana looks for them', () => {
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
  ])('gives %s valid options, and the mounted paths of its configuration and data', (_name, service, program) => {
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
    // Another test reports that the program is missing.
    if (error !== undefined) return
    for (const one of command) expect(`${stdout}${stderr}`).toContain(one.split('=')[0])
  })

  test('gives Alertmanager a configuration that amtool accepts', (context) => {
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
  test('runs the simulator on the loopback address of the daemon, where plain HTTP is allowed', () => {
    expect(simulator?.profiles).toEqual(['demo'])
    expect(simulator?.network_mode).toBe('service:callwatch')
    const inProfiles = Object.entries(compose.services).flatMap(([name, { profiles }]) => (profiles ? [name] : []))
    expect(inProfiles).toEqual(['callwatch-2', 'callwatch-3', 'simulator', 'postgres'])
    expect(read('compose.yaml')).toContain('--env-file config/compose/demo.env --profile demo up')
  })

  test('configures the daemon for the simulator', () => {
    const { targets, http } = loadConfig({ env: { ...imageVariables(), ...passedOn(demo) }, cwd: emptyFolder() })
    expect(targets.map(({ baseUrl }) => baseUrl)).toEqual([`http://127.0.0.1:${simulatorPort()}/v3`])
    expect([http.host, http.port]).toEqual(['::', portOf('callwatch')])
  })

  test('starts the simulator with valid options and the key of the daemon', { timeout: 30_000 }, async () => {
    const [command = '', ...options] = simulator?.command ?? []
    const { printed } = start([command, ...options, '--port', '0'])
    const [, url = ''] = await printed(/calls service: (\S+)/)
    const probed = await callwatch(['check', '--probe'], { env: { ...passedOn(demo), CALLWATCH_BASE_URL: url } })
    expect([probed.code, probed.stderr]).toEqual([0, ''])
    const switches = await fetch(`${new URL(url).origin}/_simulator/switches`)
    expect(switches.status).toBe(200)
  })

  test('has a health check that fails when the simulator has stopped', { timeout: 30_000 }, async () => {
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

  test('starts three daemons after the database, and one daemon without a database', () => {
    expect(postgres?.profiles).toEqual(['cluster'])
    expect(read('compose.yaml')).toContain('--env-file config/compose/cluster.env --profile cluster up')
    expect(daemon?.depends_on).toEqual({ postgres: { condition: 'service_healthy', required: false } })
    for (const name of ['callwatch-2', 'callwatch-3']) {
      const { profiles, ports: _ports, networks, ...service } = compose.services[name]!
      // Prometheus finds them under the name of the first.
      expect([profiles, networks]).toEqual([['cluster'], { default: { aliases: ['callwatch'] } }])
      expect({ ...service, ports: daemon?.ports }).toEqual(daemon)
    }
  })

  test('gives the daemons the address, user and password of the database', () => {
    const variables = { ...app, ...cluster }
    const env = Object.fromEntries(
      Object.entries(passedOn(variables)).map(([name, value]) => [name, interpolate(value, variables)]),
    )
    const { store } = loadConfig({ env: { ...imageVariables(), ...env }, cwd: emptyFolder() })
    if (!('url' in store)) throw new Error('the daemons have no store.url')
    const { hosts, user, database, ...address } = readAddress(store.url)
    expect(hosts).toEqual([{ host: 'postgres', port: portOf('postgres') }])
    const made = Object.fromEntries(
      Object.entries(postgres?.environment ?? {}).map(([name, value]) => [name, interpolate(value, variables)]),
    )
    expect(made).toEqual({ POSTGRES_USER: user, POSTGRES_DB: database, POSTGRES_PASSWORD: address.password })
    expect(address.password).toBe(password)
    const check = postgres?.healthcheck?.test.join(' ')
    expect(check).toContain(`--username=${user} --dbname=${database}`)
  })

  test('has no default password, and the image of the database refuses an empty one', () => {
    const made = new Map(Object.entries(postgres?.environment ?? {}))
    expect(interpolate(made.get('POSTGRES_PASSWORD') ?? '?', cluster)).toBe('')
    expect(read('config/compose/cluster.env')).not.toMatch(/^CALLWATCH_DB_PASSWORD/m)
  })
})

describe('the webhooks of compose.yaml', () => {
  const file = 'config/compose/webhooks.yaml'
  const { environment, ports, volumes }: Service = parse(read(file)).services.callwatch
  const app = { CALLWATCH_APP_ID: 'a1', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' }
  const hook = { CALLWATCH_HOOK_USERNAME: 'vendor', CALLWATCH_HOOK_PASSWORD: 'Secret4711' }

  test('the daemon of one app accepts them on a listener that Compose publishes', () => {
    expect(read('compose.yaml')).toContain(`-f compose.yaml -f ${file} up`)
    const set = new Map(Object.entries(environment ?? {}))
    const [from = '', to = '', mode] = volumes?.[0]?.split(':') ?? []
    expect([to, mode]).toEqual([set.get('CALLWATCH_CONFIG'), 'ro'])
    for (const name of Object.keys(hook)) expect(set.get(name)).toBe(`\${${name}:?}`)
    const env = { ...imageVariables(), ...passedOn(app), ...hook, CALLWATCH_CONFIG: join(project, from) }
    const { targets, http } = loadConfig({ env, cwd: emptyFolder() })
    expect(targets).toMatchObject([{ name: 'app', webhook: { username: 'vendor', password: 'Secret4711' } }])
    expect(ports).toEqual([expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:\\d+:${http.hooks?.port}$`))])
    const published = Object.values(compose.services).flatMap((service) => service.ports ?? [])
    expect(published.map((port) => port.split(':')[1])).not.toContain(ports![0]!.split(':')[1])
  })
})

/** The variables that the image sets. */
function imageVariables(): Record<string, string> {
  const set = readDockerfile(read('Dockerfile')).filter(({ name }) => name === 'ENV')
  return Object.fromEntries(set.map(({ value }) => value.split('=')))
}

/** The variables that Compose passes to the daemon. */
function passedOn(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [daemon?.environment ?? []].flat().map(String)
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (names.includes(name) ? [[name, value ?? '']] : [])),
  )
}

/** Replaces `${NAME}` and `${NAME:-default}`, as Compose does. */
function interpolate(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name: string, otherwise = '') => variables[name] || otherwise,
  )
}

function simulatorPort(): number {
  const command = simulator?.command ?? []
  return Number(command[command.indexOf('--port') + 1])
}
