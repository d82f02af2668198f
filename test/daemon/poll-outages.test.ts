import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reporter } from '../../src/daemon/reporter.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { healthRecord } from '../../src/pipeline/health.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { pollEvent } from './poll-event.ts'

const INTERVAL = 60
const REFUSED = 'no answer from the service: connection refused: ECONNREFUSED'
const MINUTES = 60

/** A daemon that polls so many targets once an interval; what it logs, without what is for debugging. */
function daemonWith(count: number) {
  const clock = virtualClock()
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const names = Array.from({ length: count }, (_, i) => `app ${i}`)
  let owned: readonly string[] = names
  const report = reporter({
    log,
    metrics: metricsOf(() => [], 'test').operational,
    clock,
    targets: { owned: () => owned },
    interval: () => INTERVAL,
    mask: (text) => text,
  })
  const records = new Map(names.map((name) => [name, healthRecord(clock.monotonic)]))
  const poll = (target: string, problem?: string) => report(pollEvent(target, problem, records.get(target), false))
  /** Every target is polled once in each interval. */
  const run = async (seconds: number, problemOf: (target: string) => string | undefined = () => undefined) => {
    for (let passed = 0; passed < seconds; passed += INTERVAL) {
      const most = Math.max(1, Math.ceil(owned.length / 10))
      for (let i = 0; i < 10; i++) {
        for (const target of owned.slice(i * most, (i + 1) * most)) poll(target, problemOf(target))
        await clock.advance(INTERVAL / 10)
        report({ kind: 'time' })
      }
    }
  }
  const logged = () => lines.splice(0).map(({ msg, level }) => `${level === 40 ? 'warn' : 'info'} ${String(msg)}`)
  const own = (targets: readonly string[]) => (owned = targets)
  return { names, poll, run, logged, lines, report, own, clock }
}

test('an outage of two thousand targets is one line when it begins, one each quarter of an hour, and one when it ends', async () => {
  const { run, logged, lines, names } = daemonWith(2000)
  await run(INTERVAL)
  expect(logged()).toHaveLength(2000)
  await run(40 * MINUTES, (target) => (target === 'app 7' ? 'the service did not answer in time' : REFUSED))
  expect(lines[0]).toMatchObject({ targets: names.slice(0, 20), failing: 2000, polls: 2000 })
  await run(2 * INTERVAL)
  expect(logged()).toEqual([
    `warn polls of 2,000 targets failed, 1,999 of them with: ${REFUSED}`,
    `warn polls of 2,000 of 2,000 targets have failed since 2026-09-21 14:14:20 UTC (15m 54s), 31,800 in all, 1,999 of them with: ${REFUSED}`,
    `warn polls of 2,000 of 2,000 targets have failed since 2026-09-21 14:14:20 UTC (30m 54s), 61,800 in all, 1,999 of them with: ${REFUSED}`,
    'info no poll fails any more of 2,000 targets, after 40m 54s; 80,000 polls failed',
  ])
})

test('the failure of a single target is a line that names it, at once if there is no other', async () => {
  const { poll, run, logged, lines } = daemonWith(1)
  poll('app 0', REFUSED)
  expect(lines).toMatchObject([{ target: 'app 0', msg: `poll failed: ${REFUSED}` }])
  await run(16 * MINUTES, () => 'the service answered 500')
  poll('app 0')
  expect(lines.map(({ target }) => target)).toEqual(['app 0', 'app 0', 'app 0'])
  expect(logged()).toEqual([
    `warn poll failed: ${REFUSED}`,
    'warn polls of the target have failed since 2026-09-21 14:13:20 UTC (15m), 16 in all: the service answered 500',
    'info poll complete: the target is up after 16m; 17 polls failed',
  ])
})

test('a target that fails by itself is named once all were polled, and after two intervals where some are not', async () => {
  const { poll, report, run, logged, clock, lines } = daemonWith(3)
  await run(INTERVAL)
  logged()
  poll('app 0')
  poll('app 1', REFUSED)
  poll('app 2')
  expect(lines).toEqual([])
  poll('app 0')
  expect(lines).toMatchObject([{ target: 'app 1', msg: `poll failed: ${REFUSED}` }])
  poll('app 1')
  logged()
  poll('app 2', REFUSED)
  await clock.advance(2 * INTERVAL - 1)
  report({ kind: 'time' })
  expect(lines).toEqual([])
  await clock.advance(1)
  report({ kind: 'time' })
  expect(lines).toMatchObject([{ target: 'app 2', msg: `poll failed: ${REFUSED}` }])
})

test('an outage of the others is a line also while a target has failed for long', async () => {
  const { run, logged } = daemonWith(100)
  await run(INTERVAL)
  await run(2 * INTERVAL, (target) => (target === 'app 3' ? 'the service answered 401' : undefined))
  await run(2 * INTERVAL, (target) => (target === 'app 3' ? 'the service answered 401' : REFUSED))
  await run(2 * INTERVAL, (target) => (target === 'app 3' ? 'the service answered 401' : undefined))
  expect(logged().filter((line) => !line.includes('is up'))).toEqual([
    'warn poll failed: the service answered 401',
    `warn polls of 99 targets failed: ${REFUSED}`,
    'info no poll fails any more of 99 targets, after 2m 54s; 198 polls failed',
  ])
})

test('targets that fail and recover by turns, all for one cause, are one outage', async () => {
  const { run, logged } = daemonWith(100)
  await run(INTERVAL)
  logged()
  for (let turn = 0; turn < 10; turn++) {
    await run(INTERVAL, (target) => ((Number(target.slice(4)) + turn) % 10 < 3 ? REFUSED : undefined))
  }
  await run(2 * INTERVAL)
  expect(logged()).toEqual([
    `warn polls of 30 targets failed: ${REFUSED}`,
    expect.stringMatching(/^info no poll fails any more of \d+ targets, after 10m \d+s; 300 polls failed$/),
  ])
})

test('a target that fails at every other poll is, after the second time, at most a line each quarter of an hour, and one that lasts is logged as such', async () => {
  const { run, logged, lines } = daemonWith(2)
  await run(INTERVAL)
  logged()
  const flap = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await run(INTERVAL, (target) => (target === 'app 1' ? REFUSED : undefined))
      await run(INTERVAL)
    }
  }
  await flap(20)
  expect(lines.every(({ target }) => target === 'app 1')).toBe(true)
  expect(logged()).toEqual([
    `warn poll failed: ${REFUSED}`,
    'info poll complete: the target is up after 1m; 1 poll failed',
    `warn poll failed: ${REFUSED}`,
    'info poll complete: the target is up after 1m; 1 poll failed',
    `warn polls of the target have failed again and again since 2026-09-21 14:14:26 UTC (18m), 9 in all in 9 outages: ${REFUSED}; the target is up`,
    `warn polls of the target have failed again and again since 2026-09-21 14:14:26 UTC (33m), 17 in all in 17 outages: ${REFUSED}; it has been down since 2026-09-21 14:46:26 UTC`,
  ])
  // What no line has said yet is said before it is forgotten.
  await run(40 * MINUTES)
  expect(logged()).toEqual([
    `warn polls of the target have failed again and again since 2026-09-21 14:14:26 UTC (48m), 20 in all in 20 outages: ${REFUSED}; the target is up`,
  ])
  await flap(2)
  await run(20 * MINUTES, (target) => (target === 'app 1' ? REFUSED : undefined))
  await run(INTERVAL)
  expect(logged()).toEqual([
    `warn poll failed: ${REFUSED}`,
    'info poll complete: the target is up after 1m; 1 poll failed',
    `warn poll failed: ${REFUSED}`,
    'info poll complete: the target is up after 1m; 1 poll failed',
    expect.stringMatching(/again and again since .* \(6m 6s\), 5 in all in 3 outages: .*; it has been down since /),
    expect.stringMatching(/polls of the target have failed since .* \(17m 6s\), 18 in all: /),
    'info poll complete: the target is up after 20m; 20 polls failed',
  ])
})

test('a target that fails for the third time, of something else, is logged at once, with when that began', async () => {
  const { run, logged, lines } = daemonWith(1)
  const UNKNOWN_KEY = 'the service answered 401: the key is unknown'
  for (let i = 0; i < 2; i++) {
    await run(INTERVAL, () => REFUSED)
    await run(INTERVAL)
  }
  logged()
  await run(INTERVAL, () => UNKNOWN_KEY)
  expect(lines).toMatchObject([{ target: 'app 0', polls: 3, since: '2026-09-21T14:13:20.000Z' }])
  await run(39 * MINUTES, () => UNKNOWN_KEY)
  expect(lines[1]).toMatchObject({ target: 'app 0', polls: 15, since: '2026-09-21T14:17:20.000Z' })
  await run(INTERVAL)
  expect(logged()).toEqual([
    `warn polls of the target have failed again and again since 2026-09-21 14:13:20 UTC (4m), 3 in all in 3 outages: ${UNKNOWN_KEY}; it has been down since 2026-09-21 14:17:20 UTC`,
    `warn polls of the target have failed since 2026-09-21 14:17:20 UTC (15m), 15 in all: ${UNKNOWN_KEY}`,
    `warn polls of the target have failed since 2026-09-21 14:17:20 UTC (30m), 30 in all: ${UNKNOWN_KEY}`,
    'info poll complete: the target is up after 40m; 40 polls failed',
  ])
})

test('a target that fails each time of something else is no more than a few lines', async () => {
  const { run, logged } = daemonWith(1)
  for (let i = 0; i < 60; i++) {
    await run(INTERVAL, () => `the answer has the unknown number ${i}`)
    await run(INTERVAL)
  }
  const lines = logged()
  expect(lines.filter((line) => line.includes('is up after 1m; 1 poll failed'))).toHaveLength(5)
  expect(lines.length).toBeLessThan(20)
})

test.each([0, 4, 9])(
  'a target that has failed again and again is part of an outage of all: it is polled as number %d of ten',
  async (i) => {
    const { run, logged } = daemonWith(10)
    await run(INTERVAL)
    for (let times = 0; times < 2; times++) {
      await run(INTERVAL, (target) => (target === `app ${i}` ? REFUSED : undefined))
      await run(INTERVAL)
    }
    logged()
    await run(10 * MINUTES, () => REFUSED)
    await run(20 * MINUTES)
    expect(logged()).toEqual([
      `warn polls of 10 targets failed: ${REFUSED}`,
      'info no poll fails any more of 10 targets, after 10m 54s; 100 polls failed',
    ])
  },
)

test('targets that other daemons poll now are no part of an outage any more', async () => {
  const { run, logged, report, own, names } = daemonWith(3)
  await run(INTERVAL)
  logged()
  await run(INTERVAL, () => REFUSED)
  own([])
  report({ kind: 'ownership', event: { kind: 'lost', targets: names } })
  await run(20 * MINUTES)
  expect(logged()).toEqual([
    `warn polls of 3 targets failed: ${REFUSED}`,
    'info the last targets whose polls failed are not polled here any more',
    'info 3 targets were lost: other daemons may poll them',
  ])
})
