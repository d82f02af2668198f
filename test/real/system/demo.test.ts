import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../src/commands/demo/free-port.ts'
import { emptyFolder, endedWithin, start } from '../../kit/commands/callwatch.ts'
import { countedCalls, withStore } from '../../kit/commands/counted-world.ts'
import { runningTime } from '../../kit/running-time.ts'

/** Other tests may run beside them. */
const END_SECONDS = 90
const PAGE = /^ {2}the page: +(http:\S+)$/m
const FIGURES = /^\S+ UTC {2}in progress \d+, finished ([\d,]+); failed: /m
const numberIn = (text: string) => Number(text.replaceAll(',', ''))

test('demo prints its figures each quarter of a minute, and ends with all series, calls and events equal', async () => {
  const folder = emptyFolder()
  // So fast that calls would change between the last poll and the audit, if they could.
  const args = ['demo', '--calls-per-minute', '3000', '--speed', '300']
  const running = start(args, { env: { TMPDIR: folder } })
  const [, page] = await running.printed(PAGE)
  expect((await fetch(page!)).status).toBe(200)
  // Or the next one that is free.
  const port = Number(new URL(page!).port)
  expect([port >= 9464, port < 9564], page).toEqual([true, true])
  // SQLite creates its temporary files there, too.
  expect(readdirSync(folder).filter((name) => name.startsWith('callwatch-'))).toHaveLength(1)
  const [, early = ''] = await running.printed(FIGURES)
  const { code, stdout, stderr } = await endedWithin(END_SECONDS, running, 'SIGINT')
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  const [, end] = stdout.split('\nthe end:\n')
  const [, audited] = /^ {2}audit {5}equal: all (\d+) finished calls that the service lists match the ledger$/m.exec(
    end!,
  )!
  // Its history of 5000 calls, and those of a quarter of a minute, some 50 a second.
  expect(Number(audited)).toBeGreaterThan(5200)
  expect(Number(audited)).toBeGreaterThanOrEqual(numberIn(early))
  const [, events = ''] =
    /^ {2}events {4}all ([\d,]+) events of the log were delivered to the webhook, and verified$/m.exec(end!)!
  expect(numberIn(events)).toBeGreaterThan(Number(audited) - 5000)
  expect(end).toMatch(/^ {2}simulator equal: all \d+ exact series and failure ratios are what it recorded$/m)
  expect(readdirSync(folder)).toEqual([])
})

test('demo takes a port that is free, and prints its addresses, its messages to Slack and its result, and no event', async () => {
  const taken = await freePort(9464)
  const server = createServer().listen(taken, '127.0.0.1')
  onTestFinished(() => void server.close())
  const running = start(['demo'])
  const [, page] = await running.printed(PAGE)
  expect(new URL(page!).port).not.toBe(String(taken))
  const { code, stdout, stderr } = await endedWithin(END_SECONDS, running, 'SIGINT')
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^ {2}audit {5}equal: /m)
  expect(stdout).toMatch(/^ {2}simulator equal: all \d+ exact series and failure ratios are what it recorded$/m)
  const printed = stdout.split('\n').filter((line) => line !== '' && !/^ {2}[┌│└]/.test(line))
  const lines = printed.map((line) => /^ *\w+/.exec(line.replace('the ', ''))?.[0])
  // It may end before a poll has found an end.
  expect(lines.filter((line) => line !== '  lag').join()).toBe(
    'callwatch,  page,  metrics,In,Ctrl,stopping,end,  calls,  minutes,  failed,  events,  audit,  simulator',
  )
})

/** How long something on this machine has waited for a processor (seconds). 0 where the system does not say it. */
function waitedForProcessors(): number {
  try {
    return Number(/^some .* total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))![1]) / 1e6
  } catch {
    return 0
  }
}

test('npm run demo shows its message to Slack, keeps the alert, and ends within two seconds', async () => {
  const npm = spawn('npm', ['run', 'demo'], { cwd: join(import.meta.dirname, '../../..'), detached: true })
  let stdout = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  onTestFinished(() => void (npm.exitCode === null && npm.signalCode === null && process.kill(-npm.pid!, 'SIGKILL')))
  const printed = (pattern: RegExp) => vi.waitUntil(() => pattern.exec(stdout), { timeout: 150_000 })
  const [, page] = await printed(PAGE)
  await printed(/^ {2}│ 🔴 critical: HighFailureRate on demo$/m)
  await printed(/^ {2}│ Outcomes: rejected \d+, /m)
  const json = async (path: string) => JSON.parse(await (await fetch(new URL(path, page))).text())
  // Nothing failed.
  const delivered = { receivers: [{ name: 'slack', pending: 0 }] }
  await vi.waitFor(async () => expect(await json('/api/v1/state')).toMatchObject(delivered), 60_000)
  expect(await json('/api/v1/state')).toMatchObject({
    alerts: [{ state: expect.stringMatching(/firing|recovering/) }],
  })
  const [taken, waited] = [runningTime(), waitedForProcessors()]
  npm.kill('SIGTERM')
  await once(npm, 'close')
  const seconds = taken()
  expect(seconds).toBeLessThan(END_SECONDS)
  // Other tests keep both cores busy.
  expect(seconds - (waitedForProcessors() - waited)).toBeLessThan(2.5)
  expect(stdout).toMatch(/^ {2}lag {7}half of the ends are noticed within /m)
  expect(stdout).toMatch(/^ {2}simulator equal: /m)
  await expect(fetch(page!)).rejects.toThrow('fetch failed')
})

test('demo exits 1 when a counted call is missing in its store', async () => {
  const folder = emptyFolder()
  const running = start(['demo', '--calls-per-minute', '3000', '--speed', '300'], { env: { TMPDIR: folder } })
  await running.printed(FIGURES)
  const store = join(folder, readdirSync(folder)[0]!, 'callwatch.db')
  // Get Call shows only the latest call of its session.
  const { id } = countedCalls(store).find((call) => call.session?.startsWith('group-'))!
  withStore(store, (db) => db.prepare('DELETE FROM calls WHERE id = ?').run(id))
  const { code, stdout } = await endedWithin(END_SECONDS, running, 'SIGINT')
  expect(code, stdout).toBe(1)
  const [, end] = stdout.split('\nthe end:\n')
  // For its last polls the demo reads the store again, and so counts the call twice.
  expect(end).toContain('  audit     NOT EQUAL: the counters differ from the sums of the calls in the store')
  const [, counters, calls] = /DIFFERS started: (\d+) in the counters, (\d+) in the calls of the store/.exec(end!)!
  expect(Number(counters) - Number(calls)).toBe(1)
  expect(end).toContain('  simulator NOT EQUAL in ')
})

test('demo exits 1 with a sentence when it cannot create its store', async () => {
  const { code, stdout, stderr } = await start(['demo'], { env: { TMPDIR: '/nowhere' } }).ended
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^the temporary store cannot be created: ENOENT.*; set TMPDIR$/m)
})
