import { describe, expect, test } from 'vitest'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { call, numbered, ongoing, polling } from './polling.ts'

const older = (from: number, to: number) => numbered(from, to).map((_call, n) => call(20 * (from + n)))

/** A list of two hundred calls, one every twenty seconds, of which ten minutes count. */
function long(options?: Parameters<typeof polling>[0]) {
  const world = polling({ lookback: 600, pageSize: 10, slice: 20, sweepInterval: 60, ...options })
  world.service.calls = older(1, 200)
  /** The pages that the polls request, up to the next complete one, each once. */
  const pagesOfSweep = async () => {
    const pages = new Set<number>()
    for (let polls = 0; polls < 50; polls++) {
      const { success } = await world.poll()
      for (const page of world.service.asked) pages.add(Number(page))
      if (success?.endsSweep) return [...pages].toSorted((a, b) => a - b)
    }
    throw new Error('no poll was complete')
  }
  return { ...world, pagesOfSweep }
}

describe('a sweep', () => {
  test('starts once a sweep interval, and runs in slices from where polls have joined', async () => {
    const { service, next } = polling({ sweepInterval: 60, slice: 3, pageSize: 5 })
    service.calls = numbered(1, 48)
    const polls: (readonly [string, readonly (string | number)[]])[] = []
    for (let i = 0; i < 8; i++) polls.push(await next())
    expect(polls).toEqual([
      ['complete', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      ['incremental', [1]],
      ['incremental', [1]],
      ['incremental', [1]],
      ['incremental', [1, 2, 3, 4]],
      ['incremental', [1, 5, 6, 7]],
      ['incremental', [1, 8, 9, 10]],
      ['complete', [1, 11]],
    ])
  })

  test('is not lost to calls that come in: they only move its rows', async () => {
    const { service, clock, newest, poll, book } = polling({ lookback: 3600, sweepInterval: 60, slice: 2, pageSize: 5 })
    service.calls = numbered(1, 48)
    await poll()
    await clock.advance(100)
    let found: number | undefined
    service.calls = service.calls.toSpliced(40, 0, {
      ...call(newest()),
      id: 'late',
      session: 'late',
      initiatedAt: call(40).initiatedAt,
    })
    for (let polls = 1; polls < 12; polls++) {
      service.calls = [call(newest()), call(newest() + 1), call(newest() + 2), ...service.calls]
      await poll()
      if (book.state.calls.has('late')) found ??= polls
    }
    expect([book.finished(), found]).toEqual([34, 5])
  })

  test('finds a correction that no other poll would see', async () => {
    const { clock, service, next, book } = polling({ sweepInterval: 60, pageSize: 5 })
    await next()
    await clock.advance(100)
    const after = (n: number, audio = 1) =>
      seen(`after ${n}`, 'ended', {
        initiatedAt: CREATED + 10 + n,
        endedAt: CREATED + 11 + n,
        callMinutes: { audio, video: undefined, total: undefined },
      })
    service.calls = Array.from({ length: 40 }, (_, n) => after(n)).toReversed()
    expect((await next())[0]).toBe('complete')
    service.calls = service.calls.map((listed) => (listed.id === 'after 5' ? after(5, 3) : listed))
    expect(await next()).toEqual(['incremental', [1]])
    expect(book.state.calls.get('after 5')?.minutes[0]).toBe(1)
    for (let i = 0; i < 9; i++) await next()
    expect(book.state.calls.get('after 5')?.minutes[0]).toBe(3)
  })

  test('advances even if a poll may only read one page of it', async () => {
    const { service, wait, next } = polling({ sweepInterval: 60, slice: 1 })
    service.calls = numbered(1, 24)
    await next()
    service.beforePage = () => void wait(8)
    const kinds: string[] = []
    for (let i = 0; i < 20; i++) kinds.push((await next())[0])
    expect(kinds.filter((kind) => kind === 'complete').length).toBeGreaterThan(1)
  })

  test('goes back to the beginning of the longest tracked call', async () => {
    const { clock, service, poll, book } = polling({ lookback: 1000, sweepInterval: 60, slice: 100 })
    const times = { initiatedAt: CREATED + 1, startedAt: CREATED + 1 }
    const minutes = (audio: number) => ({ callMinutes: { audio, video: 0, total: undefined } })
    service.calls = [seen('long', 'ongoing', { ...times, ...minutes(1) })]
    await poll()
    await clock.advance(5000)
    const after = (n: number) =>
      seen(`after ${n}`, 'ended', { initiatedAt: CREATED + 10 + n, endedAt: CREATED + 11 + n })
    const short = Array.from({ length: 40 }, (_, n) => after(n)).toReversed()
    const ended = (audio: number) => seen('long', 'ended', { ...times, ...minutes(audio), endedAt: CREATED + 5000 })
    service.calls = [...short, ended(80)]
    for (let i = 0; i < 6; i++) await poll()
    service.calls = [...short, ended(90)]
    for (let i = 0; i < 10; i++) await poll()
    expect(book.state.calls.get('long')?.minutes[0]).toBe(90)
  })

  test('of a long list starts early enough to end within the sweep interval', async () => {
    const { clock, service, poll } = polling({ sweepInterval: 600, slice: 3 })
    service.calls = numbered(1, 40)
    const sweeps: { began: number; ended: number }[] = []
    for (let i = 0; i < 160; i++) {
      const { success } = await poll()
      if (success?.endsSweep) sweeps.push({ began: success.beganServiceTime, ended: clock.wall() })
    }
    const gaps = sweeps.slice(1).map(({ ended }, i) => ended - sweeps[i]!.began)
    expect(sweeps.length).toBeGreaterThan(3)
    expect(Math.max(...gaps.slice(1))).toBeLessThanOrEqual(615)
  })

  test.each([
    ['while requests are short', false, 4 * 60],
    ['while there are enough requests', true, 60],
  ])('%s, begins after %s s at the latest', async (_what, maySweep, seconds) => {
    const { service, poll, clock, untilComplete } = long({ maySweep: () => maySweep })
    await untilComplete()
    const began = clock.wall()
    while ((await poll()).success?.endsSweep !== true) continue
    expect(service.asked.length).toBeGreaterThan(2)
    expect(Math.abs(clock.wall() - began - seconds)).toBeLessThanOrEqual(30)
  })

  test('is not ended by calls that came in long ago in the other order', async () => {
    const { service, untilComplete, clock } = polling({ pageSize: 10, slice: 2, sweepInterval: 600 })
    service.calls = [...numbered(1, 60), ...numbered(61, 80).toReversed(), ...numbered(81, 120)]
    await untilComplete()
    await clock.advance(600)
    await untilComplete()
  })

  test('ends though no poll joins, since every fourth call is open', async () => {
    const { service, untilComplete } = long({ slice: 4 })
    service.calls = older(1, 200).map((one, n) => (n % 4 === 0 ? ongoing(20 * (n + 1)) : one))
    await untilComplete()
  })
})

describe('a sweep of a list that is longer than the lookback', () => {
  test.each([
    ['newest first', 1],
    ['oldest first', -1],
  ])(
    '%s continues to the end once, and after that for half the lookback, at most a day, only to the horizon',
    async (_order, direction) => {
      const { service, pagesOfSweep, isVerified, clock, poll } = long()
      if (direction < 0) service.calls.reverse()
      const whole = await pagesOfSweep()
      expect([Math.min(...whole), Math.max(...whole), whole.length, isVerified()]).toEqual([1, 21, 21, true])
      for (let sweeps = 0; sweeps < 3; sweeps++) expect((await pagesOfSweep()).length).toBeLessThan(7)
      await clock.advance(300)
      await poll()
      expect(service.asked).toHaveLength(21)
    },
  )

  test('continues to the end in each sweep, if the list is not in order of time', async () => {
    const { service, pagesOfSweep, isVerified } = long()
    service.calls = [
      ...older(1, 100),
      ...older(1, 100).map((one) => ({ ...one, id: `video ${one.id}`, session: `video ${one.id}` })),
    ]
    for (let sweeps = 0; sweeps < 3; sweeps++) expect(await pagesOfSweep()).toHaveLength(21)
    expect(isVerified()).toBe(false)
  })

  test('finds a call that came in before the horizon, once it goes to the end', async () => {
    const { service, untilComplete, newest, clock, poll, book } = long()
    await untilComplete()
    const late = { ...call(newest()), initiatedAt: call(2000).initiatedAt }
    // The total is the same, since another one has left.
    service.calls = [...older(1, 99), late, ...older(100, 199)]
    await clock.advance(700)
    await poll()
    expect(book.state.calls.has(late.id)).toBe(true)
  })
})
