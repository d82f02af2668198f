import { expect, test } from 'vitest'
import type { AdjustableRateLimiter } from '../../../src/polling/rate-limiter.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { LIMIT, NOTHING_GRANTED, sharing } from './sharing.ts'

/** A rate limiter of which a request waits until it is granted. */
function granting(isGranted = false) {
  const state = { isGranted, grant: () => undefined as void }
  const take = () => (state.isGranted ? Promise.resolve() : new Promise<void>((resolve) => (state.grant = resolve)))
  const rateLimiter: AdjustableRateLimiter = { ...NOTHING_GRANTED, pausedFor: () => 0, take }
  return { rateLimiter, state }
}

const FREE = { rateLimiter: granting(true).rateLimiter }
const SHARED = { ...FREE, isShared: true }

test('a poll that hangs when its target is released ends after the grace period, and its part of the limit goes with it', async () => {
  const { clock, give, limits } = await sharing(['a', 'b', 'c'], {
    isShared: true,
    rateLimiter: granting().rateLimiter,
  })
  const { release } = give('a')
  await clock.advance(2)
  release()
  await clock.advance(7.9)
  expect(limits.at(-1)).toBe(LIMIT / 3)
  await clock.advance(0.2)
  expect(limits.at(-1)).toBe(0)
})

test('nothing is asked about a target while another daemon may own it, also within its lease', async () => {
  const { clock, service, give } = await sharing(['a'], SHARED)
  service.isOwned = false
  give('a')
  await clock.advance(20)
  expect(service.asked).toBe(0)
  service.isOwned = true
  await clock.advance(20)
  expect(service.asked).toBeGreaterThan(0)
})

test('a poll that hangs ends at once where the lease of its target has ended', async () => {
  const { clock, give, limits } = await sharing(['a', 'b', 'c'], {
    isShared: true,
    rateLimiter: granting().rateLimiter,
  })
  const { end } = give('a')
  await clock.advance(2)
  end()
  await clock.advance(0)
  expect(limits.slice(-2)).toEqual([LIMIT / 3, 0])
})

test('a lease begins with what is stored: until that is loaded nothing is asked, and nothing exported', async () => {
  const { clock, service, gate, give, watched } = await sharing(['a', 'b'], SHARED)
  const loads = Promise.withResolvers<void>()
  gate.loads = loads.promise
  give('a')
  await clock.advance(20)
  expect([service.asked, watched.loaded()]).toEqual([0, []])
  loads.resolve()
  await clock.advance(20)
  expect(service.asked).toBeGreaterThan(0)
  expect(watched.loaded().map(({ name }) => name)).toEqual(['a'])
})

test('a target whose commit was not answered is loaded again, and polled on', async () => {
  const { clock, storage, give, watched } = await sharing(['a'], SHARED)
  storage.losesAnswers = true
  give('a')
  await clock.advance(0.5)
  const target = watched.loaded()[0]!
  expect([target.lastCommitUnknown, target.health().successful, storage.log.length]).toEqual([true, false, 1])
  storage.losesAnswers = false
  await clock.advance(31)
  const again = watched.loaded()[0]!
  expect([again.lastCommitUnknown, again.health().successful]).toEqual([false, true])
  expect(again.ledger.sync.seq).toBe(storage.log.length)
})

test('a target that is polled is loaded again only once its poll has ended and the store can be read', async () => {
  const { rateLimiter, state } = granting(true)
  const { clock, storage, gate, give, watched } = await sharing(['a'], { isShared: true, rateLimiter })
  give('a')
  await clock.advance(0.5)
  storage.losesAnswers = true
  gate.isUnreadable = true
  state.isGranted = false
  await clock.advance(15)
  const target = watched.loaded()[0]!
  target.lastCommitUnknown = true
  await clock.advance(3)
  expect(watched.loaded()[0]).toBe(target)
  state.grant()
  await clock.advance(3)
  expect(watched.loaded()[0]).toBe(target)
  gate.isUnreadable = false
  await clock.advance(3)
  expect(watched.loaded()[0]).not.toBe(target)
  expect(watched.loaded()[0]).toMatchObject({ lastCommitUnknown: false })
})

test('a target whose lease has ended is not kept in memory', async () => {
  const { clock, give, watched } = await sharing(['a'], SHARED)
  const { release } = give('a')
  await clock.advance(20)
  expect(watched.loaded()).toHaveLength(1)
  release()
  await clock.advance(20)
  expect(watched.loaded()).toEqual([])
})

test('a target that another daemon may own is not exported any more, also while its last poll still runs', async () => {
  const { rateLimiter } = granting()
  const { clock, give, watched } = await sharing(['a'], { isShared: true, rateLimiter })
  const { end } = give('a')
  await clock.advance(2)
  end()
  expect(watched.loaded()).toEqual([])
})

test('a lease says nothing of the time before it until a poll had its chance', async () => {
  const { clock, storage, give } = await sharing(['a'], { isShared: true, rateLimiter: granting().rateLimiter })
  await clock.advance(3600)
  give('a')
  await clock.advance(29)
  expect(storage.log).toEqual([])
  await clock.advance(2)
  expect(storage.log).toMatchObject([{ commit: { evaluated: { kind: 'tick', pollAge: 3630 } } }])
})

test('a target is polled with its other key, and its alerts are closed when it was removed', async () => {
  const { clock, service, storage, give, reload, targets } = await sharing(['a', 'b'], FREE)
  const [{ again }] = [give('a'), give('b')]
  await clock.advance(20)
  const rotated = { ...targets[0]!, apiKey: 'another' }
  await reload({ targets: [rotated, targets[1]!] })
  again()
  service.keys.clear()
  await clock.advance(20)
  expect([service.keys, storage.closed]).toEqual([new Set(['another', targets[1]!.apiKey]), []])
  await reload({ targets: [rotated] })
  service.keys.clear()
  await clock.advance(20)
  expect([service.keys, storage.closed]).toEqual([new Set(['another']), ['b']])
})

test('a target is polled with its other key also where the store could not be read when that was reloaded', async () => {
  const { clock, service, gate, give, reload, targets } = await sharing(['a'], FREE)
  const { again } = give('a')
  await clock.advance(20)
  gate.isUnreadable = true
  await reload({ targets: [{ ...targets[0]!, apiKey: 'another' }] })
  again()
  await clock.advance(5)
  gate.isUnreadable = false
  service.keys.clear()
  await clock.advance(20)
  expect(service.keys).toEqual(new Set(['another']))
})

test('what polls have read of a list stays read within a lease, unless its pages are others now', async () => {
  // A subject replays no lease: what is reloaded gets the same one again.
  const { clock, give, reload, watched, poll } = await sharing(['a'], SHARED)
  const { again, release } = give('a')
  await clock.advance(20)
  const memoryNow = () => watched.loaded()[0]!.memory
  const memory = memoryNow()
  await reload({ alerts: [RATIO] })
  again()
  await clock.advance(20)
  expect(memoryNow() === memory).toBe(true)
  await reload({ alerts: [RATIO], poll: { ...poll, pageSize: 7 } })
  again()
  await clock.advance(20)
  const ofOtherPages = memoryNow()
  expect(ofOtherPages === memory).toBe(false)
  release()
  await clock.advance(1)
  give('a')
  await clock.advance(1)
  expect(memoryNow() === ofOtherPages).toBe(false)
})

test('a target of which another daemon was the owner is polled an interval after the last poll', async () => {
  const { clock, service, give } = await sharing(['a'], SHARED)
  const { release } = give('a')
  await clock.advance(5)
  release()
  const { asked } = service
  give('a')
  await clock.advance(9.9)
  expect(service.asked).toBe(asked)
  await clock.advance(0.2)
  expect(service.asked).toBe(asked + 1)
})

test('rules that look further back are evaluated on all calls that they see', async () => {
  const { clock, give, reload, watched } = await sharing(['a'], FREE)
  give('a')
  await clock.advance(20)
  await reload({ alerts: [{ ...RATIO, signal: { ...RATIO.signal, window: 20_000 } }] })
  give('a')
  await clock.advance(20)
  expect(watched.loaded()[0]!.longestWindow).toBe(8 * 20_000)
})

test('what was loaded for a lease that has ended meanwhile is not kept', async () => {
  const { clock, gate, give, watched } = await sharing(['a'], SHARED)
  const loads = Promise.withResolvers<void>()
  gate.loads = loads.promise
  const { end } = give('a')
  await clock.advance(1)
  end()
  await clock.advance(1)
  loads.resolve()
  await clock.advance(20)
  expect(watched.loaded()).toEqual([])
})

test('a target that cannot be loaded says why, is reported once, and is loaded once the store can be read', async () => {
  const { clock, gate, give, watched, events } = await sharing(['a', 'b'], SHARED)
  gate.isUnreadable = true
  give('a')
  await clock.advance(5)
  expect(watched.loading()).toEqual([
    { name: 'a', problem: 'the database cannot be reached' },
    { name: 'b', problem: undefined },
  ])
  expect(events).toEqual([{ kind: 'not loaded', target: 'a', problem: 'the database cannot be reached' }])
  gate.isUnreadable = false
  await clock.advance(2)
  expect(watched.loaded().map(({ name }) => name)).toEqual(['a'])
  expect(watched.loading()).toEqual([{ name: 'b', problem: undefined }])
})
