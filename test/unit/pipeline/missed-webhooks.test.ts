import { expect, test } from 'vitest'
import type { WebhookTrigger } from '../../../src/ledger/hint.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { targetView } from '../../../src/views/state/target.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { finish as finishOf, finishedCall } from '../../kit/metrics/hand-made-target.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'

/** A target that accepts webhooks, and has listened for five minutes. Times are seconds since then. */
async function listening({ webhook = true, isShared = false, hears = true, hasPolled = true } = {}) {
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
  const open = (before?: Target) => openTarget({ settings, store, clock, before })
  let target = await open()
  /** By call, when it ended, as the service says. `next:a` is the next call of the session `a`. */
  const ends: Record<string, number> = {}
  /** Calls of which the service does not say when they ended, by when they began to ring. */
  const failed: Record<string, number> = {}
  const counted = { announced: 0, missed: 0, lags: [] as number[] }
  const now = () => clock.wall() - CREATED - 300
  const until = (at: number) => clock.advance(at - now())
  const poll = async (at: number) => {
    await until(at)
    const ended = Object.entries(ends).map(([id, end]) => {
      const began = CREATED + 300 + end - 20
      const times = { session: id.replaceAll('next:', ''), initiatedAt: began, startedAt: began }
      return seen(id, 'ended', { ...times, endedAt: CREATED + 300 + end })
    })
    const rejected = Object.entries(failed).map(([id, began]) =>
      seen(id, 'rejected', { initiatedAt: CREATED + 300 + began }),
    )
    const committed = await commitObservation(target, completePoll(300 + at, ...ended, ...rejected))
    counted.announced += committed?.ends?.announced ?? 0
    counted.missed += committed?.ends?.missed ?? 0
    counted.lags.push(...(committed?.ends?.lags ?? []))
    return committed
  }
  if (hasPolled) await poll(-299)
  await until(0)
  return {
    disk,
    ends,
    failed,
    counted,
    poll,
    /** A webhook that comes at a time. */
    hint: async (id: string, at: number, trigger: WebhookTrigger = 'call_ended') => {
      await until(at)
      target.ends?.note({ id, trigger })
    },
    restart: async () => void (target = await open()),
    reload: async () => void (target = await open(target)),
    target: () => target,
    isSilent: () => targetView(target).warnings?.some(({ kind }) => kind === 'no_webhooks') ?? false,
  }
}

test('an end whose webhook came before the poll is announced, once', async () => {
  const { ends, hint, poll, counted } = await listening()
  await hint('a', 11)
  ends['a'] = 9
  await poll(12)
  expect(counted).toEqual({ announced: 1, missed: 0, lags: [2] })
  await poll(200)
  expect(counted).toMatchObject({ announced: 1, missed: 0 })
})

test('an end is announced by a webhook that comes within a minute after the poll, and is missed without one', async () => {
  const { ends, hint, poll, counted } = await listening()
  Object.assign(ends, { late: 10, missed: 10 })
  await poll(15)
  await poll(60)
  expect(counted).toMatchObject({ announced: 0, missed: 0 })
  await hint('late', 74)
  await poll(75)
  expect(counted).toEqual({ announced: 1, missed: 0, lags: [64] })
  await hint('missed', 75.5)
  ends['another'] = 75
  await poll(76)
  expect(counted).toMatchObject({ announced: 1, missed: 1 })
  await poll(200)
  expect(counted).toMatchObject({ announced: 1, missed: 2 })
})

test('an end is announced by a webhook that shows the id with the prefix of the app', async () => {
  const { ends, hint, poll, counted } = await listening()
  await hint('v1.eu.app.room', 11)
  ends['room'] = 9
  await poll(12)
  expect(counted).toEqual({ announced: 1, missed: 0, lags: [2] })
})

test('a call that failed, of which the service says no end, is announced, and has no lag', async () => {
  const { failed, hint, poll, counted } = await listening()
  Object.assign(failed, { a: 10, b: 10 })
  await hint('a', 50, 'call_rejected')
  await poll(55)
  await poll(120)
  expect(counted).toEqual({ announced: 1, missed: 1, lags: [] })
})

test.each(['call_initiated', 'call_started', 'call_participant_left', 'other'] as const)(
  'a webhook %s announces no end',
  async (trigger) => {
    const { ends, hint, poll, counted } = await listening()
    await hint('a', 9, trigger)
    ends['a'] = 9
    await poll(10)
    await poll(80)
    expect(counted).toMatchObject({ announced: 0, missed: 1 })
  },
)

test('each call of a session needs a webhook of its own', async () => {
  const { ends, hint, poll, counted } = await listening()
  await hint('a', 11)
  await hint('a', 91)
  await hint('b', 91)
  Object.assign(ends, { a: 10, 'next:a': 90, b: 60, 'next:b': 90 })
  await poll(100)
  await poll(170)
  expect(counted).toMatchObject({ announced: 3, missed: 1 })
})

test('the webhook of an earlier call that came late, or twice, does not announce the next call of its session', async () => {
  const { ends, hint, poll, counted } = await listening()
  await hint('a', 11)
  await hint('a', 21)
  Object.assign(ends, { a: 10, 'next:a': 300 })
  await poll(310)
  await poll(400)
  expect(counted).toMatchObject({ announced: 1, missed: 1 })
})

test('ends that a poll finds after an outage of an hour are counted, since the process has listened meanwhile', async () => {
  const { ends, hint, poll, counted } = await listening()
  await hint('a', 11)
  Object.assign(ends, { a: 10, b: 10 })
  await poll(3600)
  await poll(3661)
  expect(counted).toMatchObject({ announced: 1, missed: 1 })
})

test('ends for which the process did not listen from a minute before until a minute after are not counted', async () => {
  const { ends, hint, poll, counted, restart, reload } = await listening()
  await hint('a', 11)
  ends['waiting'] = 10
  await poll(15)
  await restart()
  Object.assign(ends, { a: 10, b: 10, soon: 40 })
  await hint('soon', 41)
  await poll(200)
  await poll(300)
  expect(counted).toMatchObject({ announced: 0, missed: 0 })
  Object.assign(ends, { c: 310, d: 310 })
  await hint('c', 311)
  // A new configuration changes nothing of what the process has heard.
  await reload()
  await poll(320)
  await reload()
  await poll(400)
  expect(counted).toMatchObject({ announced: 1, missed: 1 })
})

test('calls that were over at the set-up are not counted', async () => {
  const { ends, hint, poll, counted } = await listening({ hasPolled: false })
  await hint('a', 1)
  Object.assign(ends, { a: -301, b: -301 })
  await poll(10)
  await poll(100)
  expect(counted).toMatchObject({ announced: 0, missed: 0 })
})

test('an end whose commit fails is counted once', async () => {
  const { ends, hint, poll, counted, disk } = await listening()
  await hint('a', 2)
  Object.assign(ends, { a: 1, b: 1 })
  disk.isFull = true
  await expect(poll(100)).rejects.toThrow(StoreError)
  disk.isFull = false
  await poll(110)
  await poll(180)
  expect(counted).toMatchObject({ announced: 1, missed: 1 })
})

test('without webhooks, ends are not counted', async () => {
  const { ends, poll, isSilent } = await listening({ webhook: false })
  ends['a'] = 1
  expect([(await poll(100))?.ends, (await poll(200))?.ends, isSilent()]).toEqual([undefined, undefined, false])
})

test.each([
  [true, { announced: 1, missed: 1 }],
  [false, { announced: 0, missed: 0 }],
])('with several daemons whose hints this one hears (%s), ends are counted as %j', async (hears, expected) => {
  const { ends, hint, poll, counted } = await listening({ isShared: true, hears })
  await hint('a', 2)
  Object.assign(ends, { a: 1, b: 1 })
  await poll(100)
  await poll(170)
  expect(counted).toMatchObject(expected)
})

test('10,000 sessions are remembered, and no end counts as missed whose webhook may have been dropped', async () => {
  const { ends, hint, poll, counted } = await listening()
  await hint('dropped', 1)
  for (let i = 1; i < 10_000; i++) await hint(`forged ${i}`, 1)
  await hint('kept', 100)
  Object.assign(ends, { dropped: 0, alsoLost: 50, kept: 99, missed: 99 })
  await poll(101)
  await poll(170)
  expect(counted).toMatchObject({ announced: 1, missed: 1 })
})

test('of one session, and of the ends that wait for their webhook, no more is remembered than is bounded', async () => {
  const { hint, target, poll } = await listening()
  for (let i = 0; i < 300; i++) await hint('a', 100)
  const finish = finishOf('ended', 0)
  const endsOf = (number: number, session: (i: number) => string) =>
    Array.from({ length: number }, (_, i) => finishedCall(`${i}`, { session: session(i), finish: { ...finish } }))
  const calls = [...endsOf(300, () => 'a'), ...endsOf(12_000, (i) => `missed ${i}`)]
  const committed = {
    calls: new Map(calls.map((call, i) => [`${i}`, call])),
    finishes: calls.map((one) => one.finish!),
  }
  expect(target().ends?.count(committed)).toMatchObject({ announced: 100, missed: 0 })
  expect((await poll(170))?.ends).toMatchObject({ announced: 0, missed: 10_000 })
})

test('a target warns once a call has ended, and no webhook of any kind has come', async () => {
  const { ends, hint, poll, isSilent } = await listening()
  await poll(100)
  expect(isSilent()).toBe(false)
  ends['a'] = 110
  await poll(115)
  expect(isSilent()).toBe(false)
  await poll(180)
  expect(isSilent()).toBe(true)
  await hint('b', 181, 'call_started')
  expect(isSilent()).toBe(false)
})
