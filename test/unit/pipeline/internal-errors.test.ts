import { pino } from 'pino'
import { BehaviorSubject, ReplaySubject } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { ALONE } from '../../../src/cluster/ownership.ts'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import type { DaemonEvent } from '../../../src/daemon/daemon-event.ts'
import { createLogger } from '../../../src/log/logger.ts'
import { maskSecrets } from '../../../src/log/mask-secrets.ts'
import { reporter } from '../../../src/daemon/reporting/reporter.ts'
import { rateLimitKey } from '../../../src/pipeline/target.ts'
import { lifecycle } from '../../../src/pipeline/lifecycle.ts'
import { UNLIMITED } from '../../../src/polling/rate-limiter.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { metricsOf } from '../../../src/metrics/registry.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { pollConfig } from '../../kit/pipeline/settings.ts'

const KEY = 'hunter2-is-the-key'

/**
 * Targets `a` and `b`, each of whose lists has one call more at every poll. `bug.error` is thrown in each commit of `a`
 * while it is set: before anything is written, or after all is.
 *
 * @param most the most calls of a list
 */
async function watchingTwo(most = Infinity) {
  const clock = virtualClock()
  const kept = openSqliteStore({ path: ':memory:' })
  const bug: { error?: Error; at: 'before' | 'after' } = { at: 'before' }
  const store: Store = {
    ...kept,
    commit: async (target, commit) => {
      if (target === 'a' && bug.error !== undefined && bug.at === 'before') throw bug.error
      await kept.commit(target, commit)
      if (target === 'a' && bug.error !== undefined) throw bug.error
    },
  }
  const targets = ['a', 'b'].map((name): TargetConfig => {
    return { name, baseUrl: `http://${name}.test`, apiKey: KEY, query: {} }
  })
  const poll = pollConfig({
    maxAnswerBytes: 2 ** 20,
    timeout: 1,
    lookback: 3600,
    sweepInterval: 60,
    maxRequestsPerMinute: 600,
    baseline: 'count',
    details: 'never',
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what targets are watched by
  const config = { targets, poll, alerts: [], events: {} } as unknown as Config
  const draining$ = new ReplaySubject<void>(1)
  const asked = new Map<string, number>()
  const begun = clock.wall()
  const watched = lifecycle({
    mask: (text) => text,
    clock,
    random: () => 0,
    log: pino({ level: 'silent' }),
    store,
    ownership: ALONE,
    rateLimiters: new Map(targets.map((target) => [rateLimitKey(target), UNLIMITED])),
    draining$,
    transportTo: (address) => async () => {
      const count = (asked.get(address) ?? 0) + 1
      asked.set(address, count)
      const length = Math.min(count, most)
      const data = Array.from({ length }, (_, i) => {
        const n = length - i
        return { sessionId: `${address} ${n}`, status: 'ongoing', startedAt: begun - 1000 + n }
      })
      return {
        status: 200,
        headers: { date: new Date(clock.wall() * 1000).toUTCString() },
        body: JSON.stringify({ data, meta: { pagination: { total: length } } }),
      }
    },
  })
  await watched.open(config)
  const events: DaemonEvent[] = []
  const errors: unknown[] = []
  const lines: string[] = []
  const metrics = metricsOf(watched.loaded, 'test')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of a stream that a log needs
  const stream = { write: (line: string) => void lines.push(line) } as unknown as NodeJS.WriteStream
  const mask = maskSecrets([KEY])
  const log = createLogger({ level: 'error', mask, stream })
  const report = reporter({ log, metrics, clock, targets: watched, mask })
  const running = watched.run(new BehaviorSubject(config)).subscribe({
    next: (event) => {
      report(event)
      events.push(event)
    },
    error: (error: unknown) => void errors.push(error),
  })
  onTestFinished(() => {
    draining$.next()
    running.unsubscribe()
  })
  const polls = (name: string) => events.filter((one) => one.kind === 'polled' && one.target === name).length
  const failures = () => events.flatMap((one) => (one.kind === 'internal error' ? [one] : []))
  const target = (name: string) => watched.loaded().find((one) => one.name === name)!
  const started = (name: string) =>
    [...target(name).ledger.counters].reduce(
      (sum, [key, value]) => (key.startsWith(COUNTERS.started.name) ? sum + value : sum),
      0,
    )
  return { clock, bug, polls, failures, target, started, errors, lines, metrics, asked }
}

test.each(['before', 'after'] as const)(
  'an internal error %s a commit stops that target alone, which is retried and counts everything once',
  async (at) => {
    const { clock, bug, polls, failures, target, started, errors, asked } = await watchingTwo()
    await clock.advance(40)
    expect([polls('a'), polls('b')]).toEqual([3, 3])
    const { memory } = target('a')
    Object.assign(bug, { error: new TypeError(`no counts of ${KEY}`), at })
    await clock.advance(10)
    expect(target('a').health().successful).toBe(false)
    expect(target('a').health().problem).toBe('internal error')
    expect(target('b').health().successful).toBe(true)
    await clock.advance(40)
    expect([polls('a'), polls('b')]).toEqual([3, 6])
    delete bug.error
    await clock.advance(40)
    expect(target('a').health().successful).toBe(true)
    // What its polls kept may be half of a change as well.
    expect(target('a').memory === memory).toBe(false)
    for (const name of ['a', 'b']) expect(started(name)).toBe(asked.get(`http://${name}.test`))
    expect(failures().every((one) => one.target === 'a')).toBe(true)
    expect(errors).toEqual([])
  },
)

test('a target with an internal error is retried after a second, two, four, and at last every five minutes, until a poll succeeds', async () => {
  const { clock, bug, failures } = await watchingTwo(1)
  bug.error = new TypeError('no counts')
  await clock.advance(1500)
  const pauses = () => failures().map(({ seconds }) => seconds)
  expect(pauses()).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])
  delete bug.error
  await clock.advance(400)
  bug.error = new TypeError('no counts')
  await clock.advance(20)
  expect(pauses().slice(13, 15)).toEqual([1, 2])
})

test('each internal error is logged with its stack, without secrets, and counted', async () => {
  const { clock, bug, lines, metrics } = await watchingTwo()
  bug.error = new TypeError(`no counts of ${KEY}`)
  await clock.advance(2)
  expect(lines).toHaveLength(2)
  const { level, target, stack, msg } = JSON.parse(lines[0]!)
  expect({ level, target }).toEqual({ level: 'error', target: 'a' })
  expect(stack).toMatch(/^TypeError: no counts of \*{8}\n {4}at .*internal-errors\.test\.ts/)
  expect(msg).toContain('polled again in 1 s')
  const { body } = await metrics.expose('prometheus')
  expect(body).toContain('callwatch_internal_errors_total{target="a"} 2')
  expect(body).toContain('callwatch_internal_errors_total{target="b"} 0')
  expect(body).toContain('callwatch_up{target="a"} 0')
})

test('a commit that the store refuses permanently is not an internal error', async () => {
  const { clock, bug, polls, failures, target, errors } = await watchingTwo()
  bug.error = new StoreError('refused', 'this is another target')
  await clock.advance(40)
  expect([failures(), errors, polls('a')]).toEqual([[], [], 3])
  expect(target('a').health()).toMatchObject({ successful: false, fault: 'store', problem: 'this is another target' })
})
