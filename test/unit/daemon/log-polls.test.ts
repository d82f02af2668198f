import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { reporter } from '../../../src/daemon/reporting/reporter.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { healthRecord, NO_POLL } from '../../../src/pipeline/health.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
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
  const report = reporter({
    log,
    metrics: metricsOf(() => [], 'test'),
    clock,
    targets: { owned: () => names },
    mask: (text) => text,
  })
  const records = new Map(names.map((name) => [name, healthRecord(clock.monotonic)]))
  const poll = (target: string, problem?: string) => report(pollEvent(target, problem, records.get(target), false))
  /** Every target is polled once in each interval, a tenth of them in the same moment. */
  const run = async (seconds: number, problemOf: (target: string) => string | undefined = () => undefined) => {
    for (let passed = 0; passed < seconds; passed += INTERVAL) {
      for (let tenth = 0; tenth < 10; tenth++) {
        for (const target of names.slice((tenth * count) / 10, ((tenth + 1) * count) / 10))
          poll(target, problemOf(target))
        await clock.advance(INTERVAL / 10)
        report({ kind: 'time' })
      }
    }
  }
  const logged = () => lines.splice(0).map(({ msg, level }) => `${level === 40 ? 'warn' : 'info'} ${String(msg)}`)
  return { names, poll, run, logged, lines, report }
}

test('a target that cannot be polled is a line when that begins, and one when it ends', async () => {
  const { poll, run, logged, lines } = daemonWith(10)
  await run(INTERVAL)
  expect(logged()).toEqual(Array(10).fill('info poll complete: the target is up'))
  poll('app 3', REFUSED)
  expect(lines).toMatchObject([{ target: 'app 3', outcome: 'failed', msg: `poll failed: ${REFUSED}` }])
  await run(16 * MINUTES, (target) => (target === 'app 3' ? 'the service answered 500' : undefined))
  poll('app 3')
  expect(lines.map(({ target }) => target)).toEqual(['app 3', 'app 3'])
  expect(logged()).toEqual([
    `warn poll failed: ${REFUSED}`,
    'info poll complete: the target is up after 16m; 17 polls failed',
  ])
})

test('of many targets that change in the same moment three are a line each, and the others one line', async () => {
  const { run, logged, lines, names } = daemonWith(400)
  await run(INTERVAL)
  logged()
  await run(40 * MINUTES, (target) => (target === 'app 7' ? 'the service did not answer in time' : REFUSED))
  expect(lines[3]).toMatchObject({ level: 40, changes: 37, targets: names.slice(3, 23) })
  const failed = logged()
  expect(failed).toHaveLength(40)
  expect(failed.slice(0, 5)).toEqual([
    ...Array(3).fill(`warn poll failed: ${REFUSED}`),
    `warn 37 more targets cannot be polled: ${REFUSED} on ${names.slice(3, 7).join(', ')}, app 8 and 31 others; the service did not answer in time on app 7`,
    `warn poll failed: ${REFUSED}`,
  ])
  expect(failed.at(-1)).toBe(`warn 37 more targets cannot be polled: ${REFUSED}`)
  await run(2 * INTERVAL)
  expect(logged().slice(2, 5)).toEqual([
    'info poll complete: the target is up after 40m; 40 polls failed',
    'info 37 more targets are up',
    'info poll complete: the target is up after 40m; 40 polls failed',
  ])
})

test('the most common causes are named, with some of their targets, and the others counted', async () => {
  const { names, poll, run, logged, report } = daemonWith(20)
  await run(INTERVAL)
  logged()
  const causes = ['a', 'b', 'c', 'd', 'e']
  names.forEach((name, i) => poll(name, causes[Math.min(i % 7, 4)]))
  report({ kind: 'time' })
  expect(logged().at(-1)).toBe(
    'warn 17 more targets cannot be polled: e on app 4, app 5, app 6, app 11, app 12 and 3 others; d on app 3, app 10, app 17; a on app 7, app 14; other causes on 4 targets',
  )
})

test('a poll that failed for the store, or has only begun to read the list, is no line', () => {
  const { names, poll, report, logged } = daemonWith(1)
  const record = healthRecord(() => 0)
  for (const [problem, ...change] of [
    ['the disk is full', { fault: 'store' }],
    ['the list is being read', { fault: 'list' }],
  ] as const) {
    const event = pollEvent(
      names[0]!,
      problem,
      healthRecord(() => 0),
      false,
    )
    record.add({ ...event.report, ...change[0] })
    report({ ...event, report: { ...event.report, ...change[0] }, before: record.current() })
  }
  expect(logged()).toEqual([])
  poll(names[0]!)
  expect(logged()).toEqual(['info poll complete: the target is up'])
})

test('an outage of the service right after a bug is a line', () => {
  const { names, report, logged } = daemonWith(1)
  const record = healthRecord(() => 0)
  record.add({ ...NO_POLL, problem: 'internal error', fault: 'bug' })
  report(pollEvent(names[0]!, REFUSED, record, false))
  expect(logged()).toEqual([`warn poll failed: ${REFUSED}`])
})

describe('Get Call', () => {
  const UNREADABLE = 'the service answered Get Call without a call that callwatch can read: no_status'

  function watched() {
    const daemon = daemonWith(1)
    const target = daemon.names[0]!
    daemon.poll(target)
    daemon.logged()
    const hinted = (answered: number, problem?: string) =>
      daemon.report({ kind: 'hinted', target, requests: [], singleCalls: { answered, problem } })
    const poll = (answered: number, problem?: string, listProblem = problem) => {
      const event = pollEvent(target)
      const failed = listProblem === undefined ? {} : { problem: listProblem, fault: 'service' as const }
      const report = { ...event.report, ...failed, singleCalls: { answered, problem } }
      daemon.report({ ...event, report, before: { ...event.before, successful: true } })
    }
    return { ...daemon, hinted, poll }
  }

  test('that fails is a line when that begins, whether a poll or a hinted request shows it, and one when it has ended for long', async () => {
    const { hinted, poll, run, logged } = watched()
    hinted(1)
    for (let i = 0; i < 3; i++) {
      hinted(0, UNREADABLE)
      poll(2)
      poll(0, UNREADABLE)
      // One of two calls is answered.
      poll(1, 'the service answered 500')
    }
    await run(20 * MINUTES)
    hinted(1)
    hinted(1)
    expect(logged()).toEqual([`warn Get Call fails: ${UNREADABLE}`, 'info Get Call succeeds again'])
    hinted(0, 'the service answered 404 without an error body')
    expect(logged()).toEqual(['warn Get Call fails: the service answered 404 without an error body'])
  })

  test('that fails while a page fails as well is named by its own problem, and so is the page', () => {
    const { poll, logged } = watched()
    poll(0, UNREADABLE, 'page 3 did not answer')
    expect(logged()).toEqual([`warn Get Call fails: ${UNREADABLE}`, 'warn poll complete: page 3 did not answer'])
  })
})

test('another problem of successful polls is a line when it begins', () => {
  const { names, report, logged } = daemonWith(1)
  const record = healthRecord(() => 0)
  for (const problem of [undefined, 'a page failed', 'a page failed', undefined]) {
    const event = pollEvent(names[0]!)
    const before = record.current()
    record.add({ ...event.report, problem, ...(problem !== undefined && { fault: 'service' }) })
    report({
      ...event,
      report: { ...event.report, problem, ...(problem !== undefined && { fault: 'service' }) },
      before,
    })
  }
  expect(logged().filter((line) => line.startsWith('warn'))).toEqual(['warn poll complete: a page failed'])
})

test.each([
  [{ pages: 1, seconds: 10, polls: 1 }, '(1 page) is read once in 10 s,', 'raise that or lower poll.interval'],
  [
    { pages: 62, seconds: 600, polls: 6 },
    '(62 pages) is read once in 600 s,',
    'raise that or poll.max_requests_per_minute',
  ],
])(
  'a list that is read less often than poll.sweep_interval is a line, with what makes it so: %j',
  (slowSweep, read, remedy) => {
    const { report, lines } = daemonWith(1)
    const event = pollEvent('app 0')
    report({ ...event, report: { ...event.report, slowSweep } })
    expect(lines[0]).toMatchObject({
      level: 40,
      target: 'app 0',
      ...slowSweep,
      msg: `the whole list ${read} less often than poll.sweep_interval: ${remedy}`,
    })
  },
)
