import { interval, NEVER } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { requestLimits } from '../../../src/pipeline/request-limits.ts'
import { rateLimitKey } from '../../../src/pipeline/target.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { RateLimiter } from '../../../src/polling/rate-limiter.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'

const APPS = { a: 'one', b: 'one', c: 'one', d: 'another', e: 'another' }
const targetOf = (app: string, apiKey = 'key') => targetConfig({ baseUrl: `https://${app}.example/v3`, apiKey })
const settingsOf = (app: string, maxRequestsPerMinute = 600, apiKey = 'key') => {
  return { target: targetOf(app, apiKey), poll: pollConfig({ maxRequestsPerMinute }), rules: [] }
}
const clock = () => virtualClock(CREATED)

/** How much is granted in so many seconds to one that always wants more. */
async function granted(rateLimiter: RateLimiter, time: ReturnType<typeof clock>, seconds: number): Promise<number> {
  const enough = new AbortController()
  let count = 0
  for (let i = 0; i < 1000; i++) {
    rateLimiter.take(enough.signal).then(
      () => (count += 1),
      () => undefined,
    )
  }
  await time.advance(seconds)
  enough.abort()
  await time.advance(0)
  return count
}

/** Daemons that share a store, with five targets, three of which are of one app. */
async function cluster(names: readonly string[]) {
  const time = clock()
  const pauses = new Map<string, number>()
  /** How often pauses were read. */
  let reads = 0
  const pausedUntil = async (key: string) => {
    reads += 1
    return pauses.get(key)
  }
  const cluster = memoryCluster(time).clusterStore(10)
  const daemons = []
  for (const _name of names) {
    const running = new Set<string>()
    const members = () =>
      Object.entries(APPS).map(([name, app]) => {
        return {
          rateLimitKey: rateLimitKey(targetOf(app)),
          limit: running.has(name) ? 600 : undefined,
        }
      })
    const store = { cluster, pausedUntil, pauseUntil: async () => undefined }
    const limits = requestLimits({ store, clock: time, members, draining$: NEVER })
    const rateLimiter = await limits.rateLimiterOf(settingsOf('one'))
    const poll = (...targets: string[]) => {
      running.clear()
      for (const target of targets) running.add(target)
      limits.resize()
    }
    daemons.push({ poll, limits, rateLimiter })
  }
  return { time, pauses, reads: () => reads, daemons }
}

test('daemons that share the targets of an app share its limit, by how many of them each has', async () => {
  const { daemons, time } = await cluster(['x', 'y'])
  const [x, y] = [daemons[0]!, daemons[1]!]
  x.poll('a', 'b', 'd')
  y.poll('c', 'e')
  const both = await Promise.all([granted(x.rateLimiter, time, 60), granted(y.rateLimiter, time, 60)])
  // Nine tenths of 600 in a minute, from an empty bucket.
  expect(both).toEqual([360, 180])
  x.poll()
  y.poll('a', 'b', 'c')
  expect(await Promise.all([granted(x.rateLimiter, time, 60), granted(y.rateLimiter, time, 60)])).toEqual([0, 540])
})

test('daemons that share the targets of an app share what others leave of its limit', async () => {
  const { daemons, time } = await cluster(['x', 'y'])
  const [x, y] = [daemons[0]!, daemons[1]!]
  x.poll('a')
  y.poll('b', 'c')
  await time.advance(1)
  for (const { rateLimiter } of daemons) rateLimiter.note({ remaining: 239, resetIn: 60, limit: 600 })
  // If all other daemons took their shares, half of the rest would be left.
  expect(daemons.map(({ rateLimiter }) => Math.round(rateLimiter.pace().perMinute))).toEqual([60, 96])
})

test('a rate limit pause of the previous owner applies to the next one', async () => {
  const { daemons, time, pauses, reads } = await cluster(['x'])
  const { poll, limits, rateLimiter } = daemons[0]!
  poll('a', 'b', 'c')
  const before = reads()
  // No other daemon has targets of the app.
  await limits.replicatePauses()
  expect(reads()).toBe(before)
  pauses.set(rateLimitKey(targetOf('one')), time.wall() + 30)
  expect(await limits.rateLimiterOf(settingsOf('one'))).toBe(rateLimiter)
  expect(await granted(rateLimiter, time, 29)).toBe(0)
  expect(await granted(rateLimiter, time, 30)).toBeGreaterThan(100)
})

test('a daemon has no part of a shared limit before it polls a target', async () => {
  const { daemons, time } = await cluster(['x'])
  expect(await granted(daemons[0]!.rateLimiter, time, 60)).toBe(0)
})

test('a rate limit pause of another daemon applies to this one a second later, as long as they share the app', async () => {
  const { daemons, time, pauses } = await cluster(['x'])
  const { poll, limits, rateLimiter } = daemons[0]!
  poll('a', 'b')
  const following = interval(1000, time.scheduler).subscribe(() => void limits.replicatePauses())
  onTestFinished(() => following.unsubscribe())
  pauses.set(rateLimitKey(targetOf('one')), time.wall() + 30)
  await time.advance(1)
  expect(rateLimiter.pausedFor()).toBe(29)
  poll('a', 'b', 'c')
  pauses.set(rateLimitKey(targetOf('one')), time.wall() + 300)
  await time.advance(5)
  expect(rateLimiter.pausedFor()).toBe(24)
  // Of a daemon whose clock was ahead.
  pauses.set(rateLimitKey(targetOf('one')), time.wall() + 8 * 3600)
  await time.advance(24)
  expect(rateLimiter.pausedFor()).toBe(0)
})

/** A daemon that has its store for itself. */
function alone(pauseUntil: (key: string, until: number) => Promise<void> = async () => undefined) {
  const time = clock()
  const store = { pausedUntil: async () => undefined, pauseUntil }
  return { time, limits: requestLimits({ store, clock: time, members: () => [], draining$: NEVER }) }
}

test('targets of one app share one rate limiter, whatever their keys are, others have their own', async () => {
  const { limits } = alone()
  const [first, second, other] = [settingsOf('one'), settingsOf('one', 600, 'second key'), settingsOf('another')]
  expect(await limits.rateLimiterOf(second)).toBe(await limits.rateLimiterOf(first))
  expect(await limits.rateLimiterOf(other)).not.toBe(await limits.rateLimiterOf(first))
})

test('the spellings of one address are one app', async () => {
  const { limits } = alone()
  const spellings = ['https://one.example/v3', 'https://ONE.example/v3', 'https://one.example:443/v3', 'https://one.example./v3', 'https://one.example//v3', 'HTTPS://one.example/v4/../v3', 'https://one.example/v3/'] // oxfmt-ignore
  const limitersOf = spellings.map((baseUrl) =>
    limits.rateLimiterOf({ ...settingsOf('one'), target: targetConfig({ baseUrl }) }),
  )
  expect(new Set(await Promise.all(limitersOf)).size).toBe(1)
  expect(
    await limits.rateLimiterOf({
      ...settingsOf('one'),
      target: targetConfig({ baseUrl: 'https://one.example/app/v3' }),
    }),
  ).not.toBe(await limitersOf[0])
})

test('an existing rate limiter gets the limit of a reloaded configuration', async () => {
  const { limits, time } = alone()
  const rateLimiter = await limits.rateLimiterOf(settingsOf('one', 60))
  expect(await granted(rateLimiter, time, 60)).toBeLessThanOrEqual(60)
  expect(await limits.rateLimiterOf(settingsOf('one', 6000))).toBe(rateLimiter)
  expect(await granted(rateLimiter, time, 10)).toBeGreaterThan(800)
})

test('a rate limit pause that the store could not take is written as soon as possible', async () => {
  const written: number[] = []
  let attempts = 0
  const { limits, time } = alone(async (_key, until) => {
    attempts += 1
    if (attempts <= 3) throw new StoreError('unavailable', 'database is locked')
    written.push(until - CREATED)
  })
  const rateLimiter = await limits.rateLimiterOf(settingsOf('one'))
  rateLimiter.pause(600)
  await time.advance(10)
  expect([attempts, written]).toEqual([4, [600]])
})
