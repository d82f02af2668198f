import { expect, test } from 'vitest'
import type { AdjustableRateLimiter } from '../../src/polling/rate-limiter.ts'
import type { MissedCommit } from '../../src/store/sharing.ts'
import { StoreError } from '../../src/store/store.ts'
import { RATIO } from '../alerts/sample-rules.ts'
import { LIMIT, NOTHING_GRANTED, sharing } from './sharing.ts'

/** A rate limiter of which a request waits until it is granted. */
function granting(isGranted = false) {
  const state = { isGranted, grant: () => undefined as void }
  const take = () => (state.isGranted ? Promise.resolve() : new Promise<void>((resolve) => (state.grant = resolve)))
  const rateLimiter: AdjustableRateLimiter = { ...NOTHING_GRANTED, pausedFor: () => 0, take }
  return { rateLimiter, state }
}

const FREE = { rateLimiter: granting(true).rateLimiter }

test('a poll that hangs when its target is released ends after the grace period, and its part of the limit goes with it', async () => {
  const { clock, give, limits } = await sharing(['a', 'b', 'c'], async () => [], {
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

test('nothing is asked about a target while another daemon may own it, also within its tenure', async () => {
  const { clock, service, give } = await sharing(['a'], async () => [], FREE)
  service.isOwned = false
  give('a')
  await clock.advance(20)
  expect(service.asked).toBe(0)
  service.isOwned = true
  await clock.advance(20)
  expect(service.asked).toBeGreaterThan(0)
})

test('a poll that hangs ends at once where the tenure of its target has ended', async () => {
  const { clock, give, limits } = await sharing(['a', 'b', 'c'], async () => [], {
    rateLimiter: granting().rateLimiter,
  })
  const { end } = give('a')
  await clock.advance(2)
  end()
  await clock.advance(0)
  expect(limits.slice(-2)).toEqual([LIMIT / 3, 0])
})

test('a tenure begins with what other daemons have committed: until then nothing is asked, and nothing exported', async () => {
  const missed = Promise.withResolvers<MissedCommit[]>()
  const { clock, service, give, watched } = await sharing(['a', 'b'], () => missed.promise, FREE)
  give('a')
  await clock.advance(20)
  expect([service.asked, watched.exported()]).toEqual([0, []])
  missed.resolve([])
  await clock.advance(20)
  expect(service.asked).toBeGreaterThan(0)
  expect(watched.exported().map(({ name }) => name)).toEqual(['a'])
})

test('a target whose commit was not answered learns what was committed, and is polled on', async () => {
  const { clock, storage, give, watched } = await sharing(['a'], async () => storage.log, FREE)
  storage.losesAnswers = true
  give('a')
  await clock.advance(0.5)
  const target = watched.all()[0]!
  expect([target.lastCommitUnknown, target.health().up, storage.log.length]).toEqual([true, false, 1])
  storage.losesAnswers = false
  await clock.advance(16)
  expect([target.lastCommitUnknown, target.health().up]).toEqual([false, true])
})

test('a target that is polled is taken from the store again only once its poll has ended', async () => {
  let isReachable = true
  const { rateLimiter, state } = granting(true)
  const missed = async (): Promise<MissedCommit[]> => {
    if (!isReachable) throw new StoreError('unavailable', 'the database cannot be reached')
    return [{ target: 'a', commit: undefined }]
  }
  const { clock, storage, give, watched } = await sharing(['a'], missed, { rateLimiter })
  give('a')
  await clock.advance(0.5)
  storage.losesAnswers = true
  isReachable = false
  await clock.advance(15)
  const target = watched.all()[0]!
  const { ledger } = target
  expect(target.lastCommitUnknown).toBe(true)
  state.isGranted = false
  await clock.advance(15)
  isReachable = true
  await clock.advance(3)
  expect(target.ledger).toBe(ledger)
  state.grant()
  await clock.advance(3)
  expect([target.lastCommitUnknown, target.ledger === ledger]).toEqual([false, false])
})

test('a tenure says nothing of the time before it until a poll had its chance', async () => {
  const { clock, storage, give } = await sharing(['a'], async () => [], { rateLimiter: granting().rateLimiter })
  await clock.advance(3600)
  give('a')
  await clock.advance(29)
  expect(storage.log).toEqual([])
  await clock.advance(2)
  expect(storage.log).toMatchObject([{ commit: { evaluated: { kind: 'tick', pollAge: 3630 } } }])
})

test('the connection of a target is closed when it has another key, and with its alerts when it was removed', async () => {
  const { clock, service, storage, give, reload, targets } = await sharing(['a', 'b'], undefined, FREE)
  const [{ again }] = [give('a'), give('b')]
  await clock.advance(20)
  const rotated = { ...targets[0]!, apiKey: 'another' }
  await reload({ targets: [rotated, targets[1]!] })
  again()
  await clock.advance(20)
  expect([service.closed, storage.closed]).toEqual([1, []])
  await reload({ targets: [rotated] })
  await clock.advance(20)
  expect([service.closed, storage.closed]).toEqual([2, ['b']])
})

test('what polls have read of a list stays read within a tenure, unless its pages are others now', async () => {
  // A subject replays no tenure: what is reloaded gets the same one again.
  const { clock, give, reload, watched, poll } = await sharing(['a'], async () => [], FREE)
  const { again, release } = give('a')
  await clock.advance(20)
  const target = watched.all()[0]!
  const { memory } = target
  await reload({ alerts: [RATIO] })
  again()
  await clock.advance(20)
  expect(target.memory === memory).toBe(true)
  await reload({ alerts: [RATIO], poll: { ...poll, pageSize: 7 } })
  again()
  await clock.advance(20)
  const { memory: ofOtherPages } = target
  expect(ofOtherPages === memory).toBe(false)
  release()
  await clock.advance(1)
  give('a')
  await clock.advance(1)
  expect(target.memory === ofOtherPages).toBe(false)
})

test('a target of which another daemon was the owner is polled an interval after the last poll', async () => {
  const { clock, service, give } = await sharing(['a'], async () => [], FREE)
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
  const { clock, give, reload, watched } = await sharing(['a'], undefined, FREE)
  give('a')
  await clock.advance(20)
  await reload({ alerts: [{ ...RATIO, signal: { ...RATIO.signal, window: 20_000 } }] })
  give('a')
  await clock.advance(20)
  expect(watched.all()[0]!.keptFor).toBe(8 * 20_000)
})

test('a target that this daemon does not own any more is shown as its owner says', async () => {
  const { clock, service, give, watched } = await sharing(['a'], async () => [], FREE)
  give('a')
  await clock.advance(20)
  const target = watched.all()[0]!
  expect(target.health().up).toBe(true)
  service.isOwned = false
  expect([target.health().up, target.health().problem]).toEqual([false, 'no daemon owns it at the moment'])
})
