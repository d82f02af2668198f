import { describe, expect, test } from 'vitest'
import type { WebhookTrigger } from '../../../src/ledger/hint.ts'
import { COUNTERS, seriesKey } from '../../../src/ledger/series.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { completePoll, CREATED, listed, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'

const FAILED = ['unanswered', 'rejected', 'canceled', 'other'] as const

/**
 * A target that accepts webhooks, and has listened for five minutes, to a webhook that named the call of an end, too, unless
 * `isNamed` is false. Times are seconds since then.
 */
async function listening({ webhook = true, isShared = false, hears = true, isNamed = true } = {}) {
  const clock = virtualClock(CREATED)
  const memory = openSqliteStore({ path: ':memory:' })
  const disk = { isFull: false }
  const store: Store = {
    ...memory,
    ...(isShared && { cluster: memoryCluster(clock).clusterStore(10, () => hears) }),
    commit: (name, commit) =>
      disk.isFull ? Promise.reject(new StoreError('unavailable', 'full')) : memory.commit(name, commit),
  }
  const credentials = { username: 'vendor', password: 'p' }
  const settings = { target: targetConfig(webhook ? { webhook: credentials } : {}), poll: pollConfig(), rules: [] }
  const open = (before?: Target) => openTarget({ settings, store, clock, receiversOf: () => [], before })
  let target = await open()
  const hint = (id?: string, trigger: WebhookTrigger = 'call_ended') =>
    target.ends?.note({ id, trigger }, clock.wall(), target.ledger)
  if (isNamed) hint('a call of last week')
  await clock.advance(300)
  /** By call, when it ended. `next:a` is the next call of the session `a`. */
  const ends: Record<string, number> = {}
  const now = () => clock.wall() - CREATED - 300
  return {
    clock,
    disk,
    restart: async () => void (target = await open()),
    /** What `during` commits is not in the memory of the target, which is then loaded again. */
    reloadAfter: async (during: () => Promise<unknown>) => {
      const before = target
      target = await open()
      await during()
      target = await open(before)
    },
    hint,
    ends,
    /** Polls; the last answer has a `Date` that is that many seconds ahead, and the service's clock is taken for `skew` seconds ahead. */
    poll: async (at: number, ahead = 0, skew = 0) => {
      await clock.advance(at - now())
      const calls = Object.entries(ends).map(([id, ended]) => {
        const status = FAILED.find((one) => id.startsWith(one)) ?? 'ended'
        const endedAt = CREATED + 300 + ended
        const began = /^(?:next|short):/.test(id) ? endedAt - 20 : Math.min(CREATED + 100, endedAt - 1)
        const times = { session: id.replaceAll('next:', ''), initiatedAt: began, endedAt }
        return seen(id, status, {
          mode: id.startsWith('meet') ? 'meet' : 'call',
          ...times,
          ...(status === 'ended' && { startedAt: began }),
        })
      })
      const { answers, success } = completePoll(300 + at, ...calls)
      const serviceTime = CREATED + 300 + at + ahead
      return commitObservation(target, { answers, success: { ...success!, serviceTime }, clockSkew: skew })
    },
    /** The first page of a poll that is not completed. */
    page: (at: number, id: string) => {
      const ended = { initiatedAt: CREATED + 100, startedAt: CREATED + 100, endedAt: CREATED + 300 + at - 1 }
      return commitObservation(target, { answers: [listed(CREATED + 300 + at, seen(id, 'ended', ended))] })
    },
    recent: () => target.recent.ends?.(900),
    counted: () =>
      ['yes', 'no', 'unknown'].map((each) => target.ledger.counters.get(seriesKey(COUNTERS.webhookEnds, each)) ?? 0),
  }
}

test('an end whose webhook came before is announced, and counted with the end', async () => {
  const { ends, hint, poll, counted, clock } = await listening()
  await clock.advance(10)
  hint('a')
  ends['a'] = 9
  const committed = await poll(11)
  expect([counted(), committed?.ends?.lags]).toEqual([[1, 0, 0], [1]])
  await poll(200)
  expect(counted()).toEqual([1, 0, 0])
})

test('an end is announced by the webhook that came while only a call from before the set-up was known of its session', async () => {
  const { ends, hint, poll, counted, clock } = await listening()
  ends['a'] = -400
  await poll(1)
  await clock.advance(10)
  hint('a')
  ends['next:a'] = 9
  await poll(12)
  expect(counted()).toEqual([1, 0, 0])
})

test.each([
  ['announces it, also soon after one that was noticed late', 620, [1, 1, 0]],
  ['does not announce it if it came before that began: late, or twice after an outage', 585, [0, 2, 0]],
])('the end of the next call of a session: a webhook %s', async (_, at, outcomes) => {
  const { ends, hint, poll, counted, clock } = await listening()
  ends['a'] = 10
  await poll(560)
  expect(counted()).toEqual([0, 1, 0])
  await clock.advance(at - 560)
  hint('a')
  ends['next:a'] = 620
  await poll(681)
  expect(counted()).toEqual(outcomes)
})

test('two calls of a session that a poll shows together have a webhook each', async () => {
  const { ends, hint, poll, counted, clock } = await listening()
  Object.assign(ends, { a: 10, 'next:a': 90 })
  await clock.advance(11)
  hint('a')
  await clock.advance(80)
  hint('a')
  await poll(100)
  expect(counted()).toEqual([2, 0, 0])
})

test('twelve calls of a session that an outage of the list hides have a webhook each', async () => {
  const { ends, hint, poll, counted, clock } = await listening()
  for (let n = 1; n <= 12; n++) {
    await clock.advance(100)
    hint('a')
    ends[`${'next:'.repeat(n)}a`] = 100 * n - 1
  }
  await poll(1400)
  expect(counted()).toEqual([12, 0, 0])
})

test('the only call of a session is announced although the clock of the service has drifted for longer than it lasted', async () => {
  const { ends, hint, poll, counted, clock } = await listening()
  await clock.advance(10)
  hint('short:a')
  ends['short:a'] = 70
  await poll(15, 60)
  await poll(140, 60)
  expect(counted()).toEqual([1, 0, 0])
})

test('an end waits a minute for its webhook', async () => {
  const { ends, hint, poll, counted } = await listening()
  Object.assign(ends, { late: 10, missed: 10, afterAMinute: 10 })
  await poll(15)
  expect(counted()).toEqual([0, 0, 0])
  await poll(60)
  hint('late')
  await poll(69)
  expect(counted()).toEqual([1, 0, 0])
  await poll(71)
  hint('afterAMinute')
  await poll(90)
  expect(counted()).toEqual([1, 2, 0])
})

test('an end that is found minutes later is counted at once', async () => {
  const { ends, hint, poll, counted, clock } = await listening()
  await clock.advance(1)
  hint('a')
  await clock.advance(70)
  hint('afterAMinute')
  Object.assign(ends, { a: 1, b: 1, afterAMinute: 1 })
  await poll(500)
  expect(counted()).toEqual([1, 2, 0])
})

test('ends of which nobody listened are unknown, also those that waited for their webhook at a restart', async () => {
  const { ends, hint, poll, counted, restart, clock } = await listening()
  Object.assign(ends, { announced: 0, missed: 0, waiting: 90 })
  hint('announced')
  await poll(80)
  ends['recent'] = 94
  hint('recent')
  await poll(95)
  expect(counted()).toEqual([2, 1, 0])
  await clock.advance(600)
  await restart()
  Object.assign(ends, { meanwhile: 400, tooSoon: 700, listened: 770, heard: 710 })
  hint('heard')
  await poll(900)
  expect(counted()).toEqual([3, 2, 3])
  await restart()
  await poll(1000)
  expect(counted()).toEqual([3, 2, 3])
})

test('an end that waits for its webhook at a restart is counted, also if the last answer had a false date', async () => {
  const { ends, poll, counted, restart } = await listening()
  ends['a'] = 0
  await poll(10, 400)
  await restart()
  await poll(100)
  expect(counted()).toEqual([0, 0, 1])
})

test('an end in a first poll that was not completed before a restart is counted', async () => {
  const { ends, page, poll, counted, restart } = await listening()
  await page(1, 'a')
  await restart()
  ends['a'] = 0
  await poll(200)
  expect(counted()).toEqual([0, 0, 1])
})

test('an end whose commit fails is counted once', async () => {
  const { ends, hint, poll, counted, disk } = await listening()
  hint('a')
  Object.assign(ends, { a: 1, b: 1 })
  disk.isFull = true
  await expect(poll(100)).rejects.toThrow(StoreError)
  expect(counted()).toEqual([0, 0, 0])
  disk.isFull = false
  await poll(110)
  expect(counted()).toEqual([1, 1, 0])
})

test('ends of a commit that the target in memory does not have are counted once, after it was loaded again', async () => {
  const { ends, hint, poll, counted, reloadAfter } = await listening()
  Object.assign(ends, { counted: 0, waiting: 50 })
  await reloadAfter(() => poll(70))
  expect(counted()).toEqual([0, 0, 1])
  hint('waiting')
  await poll(80)
  expect(counted()).toEqual([1, 0, 1])
  await poll(200)
  expect(counted()).toEqual([1, 0, 1])
})

test('an end that waits is counted after a restart, also if the clock of the service is set meanwhile', async () => {
  const { ends, poll, counted, restart } = await listening()
  ends['waiting'] = 10
  await poll(20)
  await poll(69, 0, 5)
  await restart()
  await poll(200)
  expect(counted().reduce((sum, n) => sum + n, 0)).toBe(1)
})

test('without webhooks, ends are not counted', async () => {
  const { ends, poll, counted } = await listening({ webhook: false })
  ends['a'] = 1
  await poll(100)
  await poll(200)
  expect(counted()).toEqual([0, 0, 0])
})

test.each([
  [true, [1, 1, 0]],
  [false, [1, 0, 1]],
])(
  'with several daemons whose hints this one hears (%s), an end is counted as [announced, missed, unknown] %j',
  async (hears, expected) => {
    const { ends, hint, poll, counted, recent } = await listening({ isShared: true, hears })
    hint('a')
    Object.assign(ends, { a: 1, b: 1 })
    await poll(100)
    expect(counted()).toEqual(expected)
    expect(recent()).toEqual({ all: hears ? 2 : 1, wrong: hears ? 1 : 0 })
  },
)

describe('an end whose kind no webhook has named', () => {
  test('is unknown, whatever came without an id', async () => {
    const { ends, hint, poll, counted, recent } = await listening({ isNamed: false })
    for (const trigger of ['call_unanswered', 'call_rejected', 'call_cancelled', 'call_busy', 'call_ended'] as const)
      hint(undefined, trigger)
    Object.assign(ends, { unanswered: 1, rejected: 1, canceled: 1, other: 1, ended: 1, meet: 1 })
    await poll(100)
    expect([counted(), recent()]).toEqual([[0, 0, 6], { all: 0, wrong: 0 }])
  })

  test.each([
    ['call_ended', 'ended'],
    ['meeting_ended', 'meet'],
    ['call_unanswered', 'unanswered'],
    ['call_rejected', 'rejected'],
    ['call_busy', 'rejected'],
    ['call_cancelled', 'canceled'],
  ] as const)('is unknown where only %s did, but for %s', async (trigger, kind) => {
    const { ends, hint, poll, counted } = await listening({ isNamed: false })
    hint('b', trigger)
    Object.assign(ends, { unanswered: 1, rejected: 1, canceled: 1, other: 1, ended: 1, meet: 1 })
    await poll(100)
    expect(counted()).toEqual([0, 1, 5])
    hint(`${kind} 2`, trigger)
    ends[`${kind} 2`] = 110
    await poll(120)
    expect(counted()).toEqual([1, 1, 5])
  })

  test('is unknown if the first webhook of its kind came after it', async () => {
    const { ends, hint, poll, counted } = await listening({ isNamed: false })
    for (let i = 0; i < 5; i++) ends[`before ${i}`] = 90 + i
    await poll(100)
    hint('first')
    ends['first'] = 99
    await poll(170)
    expect(counted()).toEqual([1, 0, 5])
    ends['after'] = 180
    await poll(300)
    expect(counted()).toEqual([1, 1, 5])
  })

  test('is expected for 30 days after the last one, of several days, also after a restart', async () => {
    const { ends, hint, poll, counted, restart, clock } = await listening()
    for (const day of [0, 20, 40]) {
      await poll(86_400 * day + 10)
      hint(`of day ${day}`)
      await poll(86_400 * day + 20)
      await restart()
    }
    await clock.advance(86_400)
    ends['missed'] = 86_400 * 41 + 100
    await poll(86_400 * 41 + 300)
    expect(counted()).toEqual([0, 1, 0])
  })

  test('is expected if another daemon has heard one before it, once the target is loaded again', async () => {
    const { ends, hint, poll, counted, reloadAfter } = await listening({ isNamed: false })
    await reloadAfter(() => {
      hint('b')
      return poll(10)
    })
    ends['missed'] = 100
    await poll(200)
    expect(counted()).toEqual([0, 1, 0])
  })

  test('is unknown again 30 days after the last one, also after a restart', async () => {
    const { ends, poll, counted, restart, clock } = await listening()
    ends['a'] = 1
    await poll(100)
    await restart()
    const end = (days: number) => 86_400 * days
    await clock.advance(end(29))
    ends['b'] = end(29) + 10
    await poll(end(29) + 200)
    expect(counted()).toEqual([0, 2, 0])
    ends['c'] = end(31)
    await poll(end(31) + 200)
    expect(counted()).toEqual([0, 2, 1])
  })
})

test.each([
  ['call_rejected', 'a call that ended', [0, 1, 0]],
  ['meeting_ended', 'a call that ended', [1, 0, 0]],
  ['call_ended', 'rejected', [0, 0, 1]],
  ['call_cancelled', 'rejected', [1, 0, 0]],
] as const)('a webhook %s announces %s as [yes, no, unknown] %j', async (trigger, id, expected) => {
  const { ends, hint, poll, counted } = await listening()
  hint(id, trigger)
  ends[id] = 100
  await poll(300)
  expect(counted()).toEqual(expected)
})

test('calls that a webhook named and no poll showed within the lookback are counted, once', async () => {
  const { ends, hint, poll } = await listening({ isNamed: false })
  for (const id of ['shown', 'hidden', 'hidden']) hint(id, 'call_started')
  hint('no call', 'other')
  ends['shown'] = 1
  const unlisted = async (at: number) => (await poll(at))?.ends?.unlisted
  expect([await unlisted(100), await unlisted(80_000)]).toEqual([[], []])
  // The third sweep from now evicts it.
  delete ends['shown']
  const later = [await unlisted(86_500), await unlisted(180_000), await unlisted(280_000), await unlisted(380_000)]
  expect(later).toEqual([['hidden'], [], [], []])
})
