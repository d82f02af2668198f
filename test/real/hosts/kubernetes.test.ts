import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../../src/config/load-config.ts'
import { DEFAULT_LEASE_SECONDS } from '../../../src/store/store-section.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { readAddress } from '../../../src/store/postgres/address.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'
import { daemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import { only, readDockerfile } from '../../kit/container/dockerfile.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { schemaProblems } from './api-schemas.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- manifests have many small shapes, and the test checks them
type Manifest = any

const project = join(import.meta.dirname, '../../..')
const page = readFileSync(join(project, 'docs/kubernetes.md'), 'utf8')
const dockerfile = readDockerfile(readFileSync(join(project, 'Dockerfile'), 'utf8'))
const shellBlocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
const documentsOf = (...names: string[]) =>
  names.flatMap((name) => parseAllDocuments(readFileSync(join(project, `config/kubernetes/${name}.yaml`), 'utf8')))
const manifestsIn = (...names: string[]): Manifest[] => documentsOf(...names).map((document) => document.toJS())
const ALONE = ['common', 'one-replica']
const SHARED = 'three-replicas'
const documents = documentsOf(...ALONE)
const manifests = new Map<string, Manifest>(manifestsIn(...ALONE).map((manifest) => [manifest.kind, manifest]))
const {
  Secret: secret,
  ConfigMap: configMap,
  Service: service,
  ServiceMonitor: monitor,
} = Object.fromEntries(manifests)
const deployment = manifests.get('Deployment')
const pod = deployment.spec.template.spec
const [container] = pod.containers

describe('config/kubernetes and its page', () => {
  test('has each manifest once, as valid YAML', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    const kinds = ['Secret', 'Service', 'ServiceMonitor', 'ConfigMap', 'PersistentVolumeClaim', 'Deployment']
    expect([...manifests.keys()]).toEqual(kinds)
    expect(documents).toHaveLength(kinds.length)
    for (const { apiVersion, metadata } of manifests.values()) {
      expect(apiVersion).toMatch(/^(v1|apps\/v1|monitoring\.coreos\.com\/v1)$/)
      expect(metadata.name).toBe('callwatch')
    }
  })

  test('has the shipped rules as a PrometheusRule, and names each manifest of one replica once', async () => {
    const ruleOf = (name: string) => {
      const rules = readFileSync(join(project, `config/prometheus/callwatch-${name}.yaml`), 'utf8')
      const head = `---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: callwatch-${name}\nspec:\n`
      return head + rules.replaceAll(/^(?=.)/gm, '  ')
    }
    const note =
      '# The rules of config/prometheus for the Prometheus Operator: `npx vitest run test/real/hosts/kubernetes.test.ts -u` makes this file.\n'
    const made = note + ['recording', 'alerts'].map(ruleOf).join('')
    await expect(made).toMatchFileSnapshot(join(project, 'config/kubernetes/prometheus-rules.yaml'))
    expect(manifestsIn('kustomization')).toEqual([
      expect.objectContaining({ resources: [...ALONE, 'prometheus-rules'].map((name) => `${name}.yaml`) }),
    ])
  })

  test('has what the schemas of the API accept', async () => {
    const all = [...manifests.values(), ...manifestsIn(SHARED), ...prometheusRules()]
    expect(all).toHaveLength(12)
    expect(await schemaProblems(all)).toEqual([])
    const mistaken = structuredClone(deployment)
    mistaken.spec.replicas = 'one'
    mistaken.spec.template.spec.containers[0].readynessProbe = {}
    const problems = await schemaProblems([mistaken])
    expect(problems).toContainEqual(expect.stringContaining('replicas must be integer'))
    expect(problems).toContainEqual(expect.stringMatching(/'"readynessProbe"' does not exist/))
  })

  test('runs one daemon at a time on the volume, with time for a graceful shutdown', () => {
    expect([deployment.spec.replicas, deployment.spec.strategy.type]).toEqual([1, 'Recreate'])
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(10)
  })

  test('uses matching labels, ports, volumes and keys of the secret', () => {
    const labels = deployment.spec.template.metadata.labels
    for (const selector of [deployment.spec.selector.matchLabels, service.spec.selector]) {
      expect(labels).toMatchObject(selector)
    }
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels)

    const names = container.ports.map(({ name }: { name: string }) => name)
    const [port] = service.spec.ports
    expect(names).toEqual([port.targetPort])
    expect(monitor.spec.endpoints.map((endpoint: Manifest) => endpoint.port)).toEqual([port.name])

    const volumes = pod.volumes.map(({ name }: { name: string }) => name)
    expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes)
    for (const { persistentVolumeClaim: claim, configMap: map, secret: mounted } of pod.volumes) {
      if (claim) expect(manifests.get('PersistentVolumeClaim').metadata.name).toBe(claim.claimName)
      if (map) expect(configMap.metadata.name).toBe(map.name)
      if (mounted) expect(secret.metadata.name).toBe(mounted.secretName)
    }
    const { username, password } = monitor.spec.endpoints[0].basicAuth
    for (const { name, key } of [username, password]) {
      expect(secret.metadata.name).toBe(name)
      expect(secret.stringData).toHaveProperty(key)
    }
  })

  test('uses the port, user and volume of the image, and makes everything else read-only', () => {
    const [{ containerPort }] = container.ports
    expect(containerPort).toBe(Number(only(dockerfile, 'EXPOSE')))
    expect(service.spec.ports[0].port).toBe(containerPort)
    const { runAsUser, runAsGroup, fsGroup, runAsNonRoot } = pod.securityContext
    expect(`${runAsUser}:${runAsGroup}`).toBe(only(dockerfile, 'USER'))
    expect([fsGroup, runAsNonRoot]).toEqual([runAsGroup, true])
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true)
    const writable = container.volumeMounts.filter(({ readOnly }: Manifest) => readOnly !== true)
    expect(writable.map(({ mountPath }: Manifest) => mountPath)).toEqual([only(dockerfile, 'VOLUME'), '/tmp'])
  })

  test('has a configuration that loads the mounted secrets and requires the password of Prometheus', () => {
    const { config, folder } = mounted()
    const { targets, http, notify } = config
    expect(targets).toEqual([expect.objectContaining({ name: 'production', apiKey: secret.stringData.api_key })])
    expect(notify.receivers).toMatchObject([
      { name: 'slack', config: { webhookUrl: secret.stringData.slack_webhook_url } },
    ])
    expect(http.auth).toEqual({ username: secret.stringData.username, password: secret.stringData.password })
    expect([http.host, http.port]).toEqual(['::', container.ports[0].containerPort])
    expect(folder).not.toBe('')
    // The configuration uses every secret.
    const used = JSON.stringify(config)
    for (const [key, value] of Object.entries(secret.stringData)) expect(used, key).toContain(String(value))
  })

  test('has probes and a scrape that the daemon answers, the probes without a password', async () => {
    const simulator = await startSimulator()
    onTestFinished(simulator.close)
    const { auth } = mounted().config.http
    if (auth === undefined) throw new Error('the page has no http.auth')
    const differing = { http: { host: '127.0.0.1', port: 0, auth } }
    const targets = [{ name: 'production', baseUrl: simulator.url, apiKey: simulator.keys.fullAccess, query: {} }]
    // Not stale for a minute and a half after a poll, also on a machine that stands still meanwhile.
    const { daemon, recovered } = await daemonInProcess(simulator.url, { interval: 30 }, { ...differing, targets })
    await recovered()
    const origin = new URL(daemon.url).origin
    for (const [probe, path] of [
      ['startupProbe', '/healthz'],
      ['livenessProbe', '/healthz'],
      ['readinessProbe', '/readyz'],
    ] as const) {
      const { httpGet } = container[probe]
      expect(httpGet).toEqual({ path, port: container.ports[0].name })
      expect((await fetch(`${origin}${httpGet.path}`)).status).toBe(200)
    }
    const metrics = `${origin}${monitor.spec.endpoints[0].path}`
    expect((await fetch(metrics)).status).toBe(401)
    const { username, password } = secret.stringData
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const scraped = await fetch(metrics, { headers: { authorization } })
    expect(await scraped.text()).toContain('callwatch_up{target="production"} 1')
  })

  test('has only existing commands and options', async () => {
    const commands = [...shellBlocks.join('\n').matchAll(/node dist\/main\.js (.+)$/gm)].map(([, line = '']) => line)
    expect(commands.length).toBeGreaterThan(2)
    for (const line of commands) {
      const words = line.replace(/#.*$/, '').match(/"[^"]*"|\S+/g) ?? []
      // With --help the command only prints its usage.
      const names = words.slice(0, words[0] === 'silence' ? 2 : 1)
      const { code, stdout } = await callwatch([...names, '--help'])
      expect(code, line).toBe(0)
      expect(stdout).toContain(`Usage: callwatch ${names.join(' ')} `)
      for (const option of words.filter((word) => word.startsWith('--'))) expect(stdout, line).toContain(option)
    }
  })

  test('has a shell script that makes a PrometheusRule of each shipped file', () => {
    const rules = prometheusRules()
    expect(rules.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ['PrometheusRule', 'callwatch-recording'],
      ['PrometheusRule', 'callwatch-alerts'],
    ])
    for (const { metadata, spec } of rules) {
      expect(spec).toEqual(parse(readFileSync(join(project, `config/prometheus/${metadata.name}.yaml`), 'utf8')))
    }
  })

  test('has manifests of three replicas that differ from one replica only in store, strategy and affinity', () => {
    const replicated = manifestsIn(SHARED)
    expect(documentsOf(SHARED).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(replicated.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ['Secret', 'callwatch-database'],
      ['ConfigMap', 'callwatch'],
      ['Deployment', 'callwatch'],
      ['PodDisruptionBudget', 'callwatch'],
    ])
    const [database, config, replicas, budget] = replicated
    expect(replicas.metadata).toEqual(deployment.metadata)
    expect(replicas.spec.selector).toEqual(deployment.spec.selector)
    expect(replicas.spec.template.metadata).toEqual(deployment.spec.template.metadata)
    expect(budget.spec.selector).toEqual(deployment.spec.selector)
    const { affinity, ...rest } = replicas.spec.template.spec
    const [{ podAffinityTerm: apart }] = affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution
    expect(apart.labelSelector).toEqual(deployment.spec.selector)
    // No volume, but the address of the database; everything else is the same.
    const isData = ({ name }: { name: string }) => name === 'data' || name === 'tmp'
    const isDatabase = ({ name }: { name: string }) => name === 'database'
    const own = rest.containers[0]
    expect({ ...own, volumeMounts: undefined }).toEqual({ ...container, volumeMounts: undefined })
    expect(own.volumeMounts.filter((one: Manifest) => !isDatabase(one))).toEqual(
      container.volumeMounts.filter((one: Manifest) => !isData(one)),
    )
    expect(rest.volumes.filter((one: Manifest) => !isDatabase(one))).toEqual(
      pod.volumes.filter((one: Manifest) => !isData(one)),
    )
    expect(rest.volumes.find(isDatabase).secret.secretName).toBe(database.metadata.name)
    expect({ ...rest, containers: undefined, volumes: undefined }).toEqual({
      ...pod,
      containers: undefined,
      volumes: undefined,
    })
    // Replicas restart one at a time, each after the previous one owns its targets again.
    const { maxUnavailable, maxSurge } = replicas.spec.strategy.rollingUpdate
    expect([replicas.spec.replicas, maxUnavailable, maxSurge, budget.spec.maxUnavailable]).toEqual([3, 1, 0, 1])
    expect(replicas.spec.minReadySeconds).toBeGreaterThan(DEFAULT_LEASE_SECONDS)
    const { config: loaded } = mounted(own, [
      ['config', config.data],
      ['secrets', secret.stringData],
      ['database', database.stringData],
    ])
    if (!('url' in loaded.store)) throw new Error('the replicas have no store.url')
    expect(loaded.store.url).toBe(database.stringData.url)
    const { hosts, readWrite, tls } = readAddress(loaded.store.url)
    expect([hosts.length, readWrite, tls.mode]).toEqual([2, true, 'verify-full'])
    const { store: _store, ...others } = loaded
    const { store: _alone, ...inOne } = mounted().config
    expect({ ...others, targets: others.targets.map(({ apiKey }) => apiKey) }).toEqual({
      ...inOne,
      targets: inOne.targets.map(({ apiKey }) => apiKey),
    })
  })
})

/** What the script of the page makes. */
const prometheusRules = () => manifestsIn('prometheus-rules')

/** Loads the configuration as a container does, from a folder instead of the container's root. */
function mounted(
  from: Manifest = container,
  volumes: [name: string, content: Record<string, string>][] = [
    ['config', configMap.data],
    ['secrets', secret.stringData],
  ],
) {
  const folder = temporaryFolder()
  const inFolder = (path: string) => path.replaceAll(/\/etc\//g, `${folder}/etc/`)
  const pathOf = (volume: string) =>
    inFolder(from.volumeMounts.find((mount: Manifest) => mount.name === volume).mountPath)
  for (const [volume, content] of volumes) {
    mkdirSync(pathOf(volume), { recursive: true })
    for (const [name, text] of Object.entries(content)) writeFileSync(join(pathOf(volume), name), inFolder(text))
  }
  const env = Object.fromEntries(from.env.map(({ name, value }: Manifest) => [name, inFolder(value)]))
  return { folder, config: loadConfig({ env, cwd: folder }) }
}
