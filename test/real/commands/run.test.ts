import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { defaultSwitches, drawSwitches, switchTable } from '../../../src/simulator/switches.ts'
import { endedWithin, start, type Running } from '../../kit/commands/callwatch.ts'
import { localServer } from '../../kit/commands/local-server.ts'

const KEY = 'hunter2/"hunter2'
const LOOPBACK = { CALLWATCH_HTTP_HOST: '127.0.0.1', CALLWATCH_HTTP_PORT: '0', CALLWATCH_STORE_PATH: ':memory:' }

function run(baseUrl: string, env: Record<string, string> = {}): Running {
  const target = { CALLWATCH_BASE_URL: baseUrl, CALLWATCH_API_KEY: KEY, CALLWATCH_POLL_INTERVAL: '200ms' }
  return start(['run'], { env: { ...LOOPBACK, ...target, ...env } })
}

const pageOf = async ({ printed }: Running) => (await printed(/"url":"(http:[^"]+)"/))[1]!

async function simulator() {
  const started = await startSimulator({ apiKey: KEY, callsPerMinute: 600, speed: 20 })
  onTestFinished(started.close)
  return started
}

describe('run', () => {
  test('needs only the environment, and serves its counts as soon as it logs its address', async () => {
    const { url } = await simulator()
    const running = run(url)
    const page = await pageOf(running)
    expect((await fetch(`${page}healthz`)).status).toBe(200)
    await vi.waitFor(async () => expect((await fetch(`${page}readyz`)).status).toBe(200), { timeout: 90_000 })
    const metrics = await (await fetch(`${page}metrics`)).text()
    expect(metrics).toMatch(/^callwatch_up\{target="127\.0\.0\.1:\d+"\} 1$/m)
    const { targets } = JSON.parse(await (await fetch(`${page}api/v1/state`)).text())
    expect(targets).toMatchObject([{ up: true, tracked_calls: expect.any(Number) }])
    expect(targets[0].tracked_calls).toBeGreaterThan(0)
  })
})

test('a bug outside of any target ends run with exit 1 and a stack without secrets', async () => {
  const { url } = await simulator()
  const bug = 'process.on("SIGUSR2", () => { throw new TypeError(`no counts of ${process.env.CALLWATCH_API_KEY}`) })'
  const running = run(url, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}` })
  await pageOf(running)
  const { code, stderr } = await endedWithin(9, running, 'SIGUSR2')
  expect(code).toBe(1)
  expect(stderr).toMatch(/^TypeError: no counts of \*{8}\n {4}at /m)
  expect(stderr).not.toContain('hunter2')
})

describe('a signal to run', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with exit 0 and a last log line', async (signal) => {
    const { url } = await simulator()
    const running = run(url)
    await running.printed(/the target is up/)
    const { code, stdout, stderr } = await endedWithin(9, running, signal)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n').at(-1)).toContain('"msg":"stopped"')
  })

  test('ends it within ten seconds though the service does not answer', async () => {
    let requests = 0
    const { url } = await localServer(() => void (requests += 1))
    const running = run(url)
    await vi.waitFor(() => expect(requests).toBeGreaterThan(0), { timeout: 90_000 })
    const { code } = await endedWithin(10, running, 'SIGTERM')
    expect(code).toBe(0)
  })

  test('that comes second ends it at once', async () => {
    let requests = 0
    const { url } = await localServer(() => void (requests += 1))
    const running = run(url)
    await vi.waitFor(() => expect(requests).toBeGreaterThan(0), { timeout: 90_000 })
    running.child.kill('SIGTERM')
    // Still up: it waits for the running poll.
    expect((await fetch(`${await pageOf(running)}healthz`)).status).toBe(200)
    const { code } = await endedWithin(5, running, 'SIGINT')
    expect(code).toBe(1)
  })
})

test('run prints and serves no key, though the service repeats it and everything is logged', async () => {
  const { url } = await localServer((request, response) => {
    const message = `no key ${String(request.headers['apikey'])} (${encodeURIComponent(KEY)})`
    response.writeHead(401).end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message } }))
  })
  const running = run(url, { CALLWATCH_LOG_LEVEL: 'trace' })
  const page = await pageOf(running)
  await running.printed(
    /poll failed: the key is not accepted; check api_key, .*the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: no key \*{8}/,
  )
  const served = ['readyz', 'metrics', 'api/v1/state', 'api/v1/calls', ''].map(async (path) =>
    (await fetch(page + path)).text(),
  )
  const [readyz, metrics, status, ...others] = await Promise.all(served)
  expect(status).toContain('no key ********')
  expect(readyz).not.toContain('no key')
  running.child.kill('SIGTERM')
  const { stdout, stderr } = await running.ended
  for (const text of [readyz, metrics, status, ...others, stdout, stderr]) expect(text).not.toContain('hunter2')
})

test('simulate prints its address, responds there, and ends with exit 0 at a signal', async () => {
  const running = start(['simulate', '--port', '0'])
  const [, url] = await running.printed(/^calls service: (http:\S+)$/m)
  expect((await fetch(`${url}/calls?page=1&perPage=1`, { headers: { apikey: 'simulator-full-access' } })).status).toBe(
    200,
  )
  const { code, stderr } = await endedWithin(9, running, 'SIGTERM')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('simulate --chaos draws the switches from the seed, except for the given ones', async () => {
  const running = start(['simulate', '--port', '0', '--seed', '7', '--chaos', '0.5', '--order', 'oldest', '--outage'])
  const [, switches] = await running.printed(/^switches: +(http:\S+)$/m)
  const drawn = drawSwitches(switchTable, 7, 0.5)
  const expected = { ...defaultSwitches, ...drawn, order: 'oldest', outage: true }
  expect(await (await fetch(switches!)).json()).toEqual(expected)
})
