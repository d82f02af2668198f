import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../src/commands/demo/free-port.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { defaultSwitches, drawSwitches, switchTable } from '../../src/simulator/switches.ts'
import type { TargetView } from '../../src/web/api/target-view.ts'
import { emptyFolder, start, type Running } from './callwatch.ts'
import { countedCalls, withStore } from './counted-world.ts'
import { localServer } from './local-server.ts'

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

async function endedWithin(seconds: number, { child, ended }: Running, signal: NodeJS.Signals) {
  const begun = performance.now()
  child.kill(signal)
  const result = await ended
  expect(performance.now() - begun).toBeLessThan(seconds * 1000)
  return result
}

describe('run', () => {
  test('needs only the environment, and serves its counts as soon as it logs its address', async () => {
    const { url } = await simulator()
    const running = run(url)
    const page = await pageOf(running)
    expect((await fetch(`${page}healthz`)).status).toBe(200)
    await vi.waitFor(async () => expect((await fetch(`${page}readyz`)).status).toBe(200), { timeout: 8000 })
    const metrics = await (await fetch(`${page}metrics`)).text()
    expect(metrics).toMatch(/^callwatch_up\{target="127\.0\.0\.1:\d+"\} 1$/m)
    const { targets } = JSON.parse(await (await fetch(`${page}api/v1/status`)).text())
    expect(targets).toMatchObject([{ up: true, tracked_calls: expect.any(Number) }])
    expect(targets[0].tracked_calls).toBeGreaterThan(0)
  })
})

test('a bug outside of any target ends run with exit 1 and a stack without secrets', async () => {
  const { url } = await simulator()
  const bug = join(emptyFolder(), 'bug.mjs')
  writeFileSync(bug, 'setTimeout(() => { throw new TypeError(`no counts of ${process.env.CALLWATCH_API_KEY}`) }, 2000)')
  const running = run(url, { NODE_OPTIONS: `--import=${bug}` })
  await pageOf(running)
  const { code, stderr } = await running.ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/^TypeError: no counts of \*{8}\n {4}at /m)
  expect(stderr).not.toContain('hunter2')
})

describe('a signal to run', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with exit 0 and a last log line', async (signal) => {
    const { url } = await simulator()
    const running = run(url)
    await running.printed(/the target is up/)
    const { code, stdout, stderr } = await endedWithin(5, running, signal)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n').at(-1)).toContain('"msg":"stopped"')
  })

  test('ends it within ten seconds though the service does not answer', { timeout: 20_000 }, async () => {
    let requests = 0
    const { url } = await localServer(() => void (requests += 1))
    const running = run(url)
    await vi.waitFor(() => expect(requests).toBeGreaterThan(0), { timeout: 8000 })
    const { code } = await endedWithin(10, running, 'SIGTERM')
    expect(code).toBe(0)
  })

  test('that comes second ends it at once', async () => {
    let requests = 0
    const { url } = await localServer(() => void (requests += 1))
    const running = run(url)
    await vi.waitFor(() => expect(requests).toBeGreaterThan(0), { timeout: 8000 })
    running.child.kill('SIGTERM')
    // Still up: it waits for the running poll.
    expect((await fetch(`${await pageOf(running)}healthz`)).status).toBe(200)
    const { code } = await endedWithin(1, running, 'SIGINT')
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
  await running.printed(/poll failed: the service answered 401 AUTH_ERR_APIKEY_NOT_FOUND: no key \*{8}/)
  const served = ['readyz', 'metrics', 'api/v1/status', 'api/v1/calls', 'api/v1/alerts', ''].map(async (path) =>
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
  const running = start(['simulate', '--port', '0', '--api-key', 'k'])
  const [, url] = await running.printed(/^calls service: (http:\S+)$/m)
  expect((await fetch(`${url}/calls?page=1&perPage=1`, { headers: { apikey: 'k' } })).status).toBe(200)
  const { code, stderr } = await endedWithin(5, running, 'SIGTERM')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('simulate --chaos draws the switches from the seed, except for the given ones', async () => {
  const running = start(['simulate', '--port', '0', '--seed', '7', '--chaos', '0.5', '--order', 'oldest', '--outage'])
  const [, switches] = await running.printed(/^switches: +(http:\S+)$/m)
  const drawn = drawSwitches(switchTable, 7, 0.5)
  const expected = { ...defaultSwitches, ...drawn, order: 'oldest', outage: true }
  expect(await (await fetch(switches!)).json()).toEqual(expected)
})

const SLOW = { timeout: 30_000 }
/** The line of the demo for a call that ended. */
const FINISH = /^\d\d:\d\d:\d\d {2}\S.* → (?:ended|unanswered|rejected|canceled) /m

test('demo prints transitions and deliveries, and ends with all series, calls and events equal', SLOW, async () => {
  const folder = emptyFolder()
  // So fast that calls would change between the last poll and the audit, if they could.
  const args = ['demo', '--calls-per-minute', '3000', '--speed', '300']
  const running = start(args, { env: { TMPDIR: folder } })
  const [, page] = await running.printed(/^the page: +(http:\S+)$/m)
  expect((await fetch(page!)).status).toBe(200)
  // Or the next one that is free.
  const port = Number(new URL(page!).port)
  expect([port >= 9464, port < 9564], page).toEqual([true, true])
  // SQLite creates its temporary files there, too.
  expect(readdirSync(folder).filter((name) => name.startsWith('callwatch-'))).toHaveLength(1)
  await running.printed(FINISH)
  const { code, stdout, stderr } = await endedWithin(10, running, 'SIGINT')
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  const [, end] = stdout.split('\nthe end:\n')
  const finished = stdout.split('\n').filter((line) => FINISH.test(line)).length
  const [, audited] = /^ {2}audit {5}equal: all (\d+) finished calls that the service lists match the ledger$/m.exec(
    end!,
  )!
  // The others are its history of 5000 calls: less those that were open at the set-up, and some that ended just before it.
  expect(Number(audited) - finished).toBeGreaterThan(4700)
  expect(Number(audited) - finished).toBeLessThan(5300)
  const delivered = [...stdout.matchAll(/^ +webhook: (\d+) events?, verified: /gm)].map(([, events]) => Number(events))
  const events = delivered.reduce((sum, each) => sum + each, 0)
  expect(end).toContain(`\n  events    all ${events} events of the log were delivered to the webhook, and verified\n`)
  expect(events).toBeGreaterThan(finished)
  expect(end).toMatch(/^ {2}simulator equal: all \d+ exact series and failure ratios are what it recorded$/m)
  expect(readdirSync(folder)).toEqual([])
})

type Call = { session_id: string; status: string; finished: string }

test(
  'demo --history polls through a past, whose alerts have exactly the calls that failed then',
  { timeout: 60_000 },
  async () => {
    const running = start(['demo', '--quiet', '--history', '8d'])
    const [, page] = await running.printed(/^the page: +(http:\S+)$/m, 25)
    const json = async (path: string) => JSON.parse(await (await fetch(new URL(path, page))).text())
    const calls = async (query: string): Promise<Call[]> => (await json(`${query}&limit=9999`)).calls
    const all = await calls('/api/v1/calls?since=9d')
    // About 300 a day.
    expect(all.length).toBeGreaterThan(1800)
    const { alerts } = await json('/api/v1/alerts/history?since=9d')
    // There are two incidents in the last week: one has 90 calls, the one before it 140.
    expect(alerts).toMatchObject(
      Array.from({ length: 2 }, () => ({ alert: 'LastingFailures', outcome: 'resolved', notified: [], blind: [] })),
    )
    for (const [i, { calls_url, since, until, peak }] of alerts.entries()) {
      const query = new URL(calls_url, page).searchParams
      const [from, to] = ['since', 'until'].map((name) => Date.parse(query.get(name)!))
      // The window of the first value began an hour before it.
      expect(from! - (Date.parse(since) - 3_600_000)).toBeLessThan(1000)
      expect(to! - Date.parse(until)).toBeLessThan(1000)
      const inside = all.filter(({ finished }) => Date.parse(finished) >= from! && Date.parse(finished) < to!)
      const failed = inside.filter(({ status }) => status !== 'ended')
      expect((await calls(calls_url)).map((call) => call.session_id).toSorted()).toEqual(
        failed.map((call) => call.session_id).toSorted(),
      )
      expect(failed.length).toBeGreaterThanOrEqual([90, 140][i]!)
      expect(peak).toBeGreaterThan(failed.length / inside.length)
    }
    const { code, stdout, stderr } = await endedWithin(10, running, 'SIGINT')
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^ {2}audit {5}equal: /m)
    expect(stdout).toMatch(/^ {2}simulator equal: all \d+ exact series and failure ratios are what it recorded$/m)
    const [, started] = /^ {2}calls +started (\d+),/m.exec(stdout)!
    expect(Number(started)).toBeGreaterThanOrEqual(all.length)
  },
)

test('Ctrl-C ends a demo that polls through its past at once', SLOW, async () => {
  const running = start(['demo', '--history', '90d'])
  await running.printed(/^polling through a past of /m)
  const { code, stdout, stderr } = await endedWithin(3, running, 'SIGINT')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).not.toContain('the page:')
})

test('demo with a past of a day has a past alert, and takes a port that is free after it', SLOW, async () => {
  const running = start(['demo', '--history', '1d'])
  await running.printed(/^polling through a past of /m)
  const taken = await freePort(9464)
  const server = createServer().listen(taken, '127.0.0.1')
  onTestFinished(() => void server.close())
  const [, page] = await running.printed(/^the page: +(http:\S+)$/m, 25)
  expect(new URL(page!).port).not.toBe(String(taken))
  const { alerts } = JSON.parse(await (await fetch(new URL('/api/v1/alerts/history?since=2d', page))).text())
  expect(alerts).toMatchObject([{ alert: 'LastingFailures' }])
  const { code } = await endedWithin(20, running, 'SIGINT')
  expect(code).toBe(0)
})

test('demo --quiet prints its addresses and its result, and no event', SLOW, async () => {
  const running = start(['demo', '--quiet', '--calls-per-minute', '3000', '--speed', '300'])
  const [, page] = await running.printed(/^the page: +(http:\S+)$/m)
  const target = async () => {
    const status: { targets: TargetView[] } = JSON.parse(await (await fetch(`${page}api/v1/status`)).text())
    return status.targets[0]!
  }
  const wait = { timeout: 10_000 }
  await vi.waitUntil(async () => (await target()).finished.rejected > 0, wait)
  const firstPoll = await vi.waitUntil(async () => (await target()).last_success, wait)
  // The lag is that of ends which a later poll has found.
  await vi.waitUntil(async () => (await target()).last_success !== firstPoll, wait)
  const { code, stdout } = await endedWithin(20, running, 'SIGINT')
  expect(code, stdout).toBe(0)
  const [first, ...lines] = stdout.split('\n').filter((line) => line !== '')
  expect(first).toMatch(/^callwatch demo: /)
  expect(lines.map((line) => /^ *[a-z]+/.exec(line.replace('the ', ''))?.[0])).toEqual([
    'page',
    'metrics',
    'webhook',
    'in',
    'in',
    'stopping',
    'end',
    '  calls',
    '  minutes',
    '  failed',
    '  lag',
    '  events',
    '  audit',
    '  simulator',
  ])
})

test('demo exits 1 when a counted call is missing in its store', { timeout: 60_000 }, async () => {
  const folder = emptyFolder()
  const running = start(['demo', '--calls-per-minute', '3000', '--speed', '300'], { env: { TMPDIR: folder } })
  await running.printed(FINISH)
  const store = join(folder, readdirSync(folder)[0]!, 'callwatch.db')
  const { id } = countedCalls(store)[0]!
  withStore(store, (db) => db.prepare('DELETE FROM calls WHERE id = ?').run(id))
  const { code, stdout } = await endedWithin(20, running, 'SIGINT')
  expect(code, stdout).toBe(1)
  const [, end] = stdout.split('\nthe end:\n')
  expect(end).toContain('  audit     NOT EQUAL: 1 call differs from the ledger')
  expect(end).toMatch(new RegExp(`DIFFERS ${id}: \\w+ at the service, unknown to the ledger`))
  expect(end).toContain('  simulator equal: ')
})

test('demo exits 1 with a sentence when it cannot create its store', async () => {
  const { code, stdout, stderr } = await start(['demo'], { env: { TMPDIR: '/nowhere' } }).ended
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^the temporary store cannot be created: ENOENT.*; set TMPDIR$/m)
})
