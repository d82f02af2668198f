import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { tableLines } from '../../src/commands/command.ts'
import { openSqliteStore } from '../../src/store/open-sqlite.ts'
import { firingOf, RATIO } from '../alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../ledger/seen.ts'
import { firing } from '../metrics/hand-made-target.ts'
import { openIn } from '../store/contract/place.ts'
import { AUTH, serve, shownTarget } from '../web/serve.ts'
import { callwatch, configFile, emptyFolder, start } from './callwatch.ts'
import { selfSigned } from './self-signed.ts'

/** A store that `production` was polled into so many seconds ago, and the configuration that also has `staging`. */
async function polled(secondsAgo: number, { fires = false, targets = ['production', 'staging'] } = {}) {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const at = Date.now() / 1000 - secondsAgo - CREATED
  const alerts = { changed: fires ? [firing({ ...RATIO, severity: 'critical' })] : [], ended: [], notifications: [] }
  const change = firingOf(RATIO, 'production', CREATED + at)
  await see(completePoll(at, seen('open', 'ongoing')), {
    alerts,
    routedChanges: fires ? [{ change, receivers: ['slack'] }] : [],
  })
  await store.close()
  const named = targets.map((name) => `{ name: ${name}, base_url: 'http://127.0.0.1:1/v3', api_key: key }`)
  return configFile(`
targets: [${named.join(', ')}]
store: { path: '${path}' }
notify: { slack: { webhook_url: 'http://127.0.0.1:1/hook' } }
`)
}

describe('status', () => {
  test('succeeds while all targets are polled and no alert fires', async () => {
    const config = await polled(4, { targets: ['production'] })
    const { code, stdout, stderr } = await callwatch(['status', '--config', config])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replace(/store: .*/, 'store: x')).toMatch(
      /^target +state +lag +in progress +firing\nproduction +up +\ds +1 +0\n\nno alert fires\n\nreceiver slack: nothing waits\nstore: x\n$/,
    )
  })

  test('says which target is not polled, which alert fires and what waits, and fails', async () => {
    const { code, stdout } = await callwatch(['status', '--config', await polled(600, { fires: true })])
    expect(code).toBe(1)
    const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))
    const begin = lines.findIndex((line) => line.startsWith('target'))
    expect(lines[0]).toMatch(/^critical: production: 42\.5% of 40 calls fail/)
    expect(lines.slice(begin + 1, begin + 3)).toEqual([
      'staging  never polled  -  0  0',
      'production  stale  10m  1  1',
    ])
    expect(lines[begin + 5]).toMatch(/^HighFailureRate  production  critical  .*  42.5%  above 30%$/)
    expect(lines[begin + 7]).toMatch(/^receiver slack: 1 waiting, the oldest for 10m/)
  })

  test('as JSON has the fields of the API', async () => {
    const { code, stdout } = await callwatch(['status', '--json', '--config', await polled(600, { fires: true })])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      targets: [
        { target: 'production', state: 'stale', in_progress: 1, firing: 1 },
        { target: 'staging', state: 'never polled', last_success: null, lag_seconds: null },
      ],
      alerts: [{ target: 'production', alert: 'HighFailureRate', severity: 'critical', value: 0.425 }],
      receivers: [{ name: 'slack', pending: 1 }],
    })
  })

  test('is printed again until a signal ends it', async () => {
    const { child, stdout, ended } = start(['status', '--watch', '--config', await polled(4)])
    await vi.waitFor(() => expect(stdout().match(/^target/gm)).toHaveLength(2), 10_000)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 1, stderr: '' })
  })
})

describe('status --health', () => {
  const env = (url: string) => ({
    CALLWATCH_HTTP_PORT: new URL(url).port,
    // A proxy on which nothing listens.
    HTTP_PROXY: 'http://127.0.0.1:1',
    HTTPS_PROXY: 'http://127.0.0.1:1',
    NODE_USE_ENV_PROXY: '1',
  })

  test.each(['127.0.0.1', '0.0.0.0', '::', '::1'])('reaches a daemon on %s without a proxy', async (host) => {
    const { url } = await serve([shownTarget()], { host })
    const variables = { ...env(url), CALLWATCH_HTTP_HOST: host }
    expect(await callwatch(['status', '--health'], { env: variables })).toMatchObject({ code: 0, stderr: '' })
  })

  test('needs no password, and no configuration without mistakes', async () => {
    const { url } = await serve([shownTarget()], { auth: AUTH })
    const http = `{ port: \${PORT}, auth: { username: a, password: b } }`
    const args = ['status', '--health', '--config', configFile(`http: ${http}\nalert: {}`)]
    const { code, stdout } = await callwatch(args, { env: { PORT: new URL(url).port } })
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${url}/healthz answers 200\n`,
    })
    const broken = ['status', '--health', '--config', configFile('http: { port: 1')]
    expect(await callwatch(broken, { env: env(url) })).toMatchObject({ code: 0 })
  })

  test('uses HTTPS with http.tls, whoever has signed the certificate', async () => {
    const { url } = await serve([shownTarget()], { tls: selfSigned('callwatch.example') })
    const http = `{ port: ${new URL(url).port}, tls: { cert_file: gone.crt, key_file: gone.key } }`
    const args = ['status', '--health', '--config', configFile(`http: ${http}`)]
    expect(await callwatch(args)).toMatchObject({ code: 0 })
  })

  test('fails if nothing answers', async () => {
    const { url, close } = await serve([shownTarget()])
    await close()
    const { code, stdout } = await callwatch(['status', '--health'], { env: env(url) })
    expect({ code, stdout }).toEqual({ code: 1, stdout: `${url}/healthz does not answer\n` })
  })
})

test('a table that is wider than the terminal loses its least important columns', () => {
  const [header, rows] = [['name', 'what', 'n'], [['a', 'something', '12']]]
  const within = (width: number) => tableLines(header, rows, 2, { width, givesWay: ['what', 'n'] })
  expect(within(20)).toEqual(['name  what        n', 'a     something  12'])
  expect(within(19)).toEqual(['name  what        n', 'a     something  12'])
  expect(within(18)).toEqual(['name   n', 'a     12'])
  expect(within(7)).toEqual(['name', 'a'])
  expect(within(1)).toEqual(['name', 'a'])
})
