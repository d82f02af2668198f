import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/service/service-error.ts'
import { newPoll, type RunningPoll } from '../../../src/polling/poll.ts'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { newReading } from '../../../src/polling/list/reading.ts'
import { missingCalls } from '../../../src/polling/list/shrunk-list.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'
import { call, numbered } from './polling.ts'
import { INTERVAL, running } from '../pipeline/running.ts'

describe('the missing calls of a list that has shrunk', () => {
  const ids = (from: number, to: number) => numbered(from, to).map(({ id }) => id)

  /** Of a list that had so many calls, which lasted so long, in a poll that has read back to `oldest`, and at least to `horizon` (seconds). */
  function missing(
    shown: string[],
    { before = 40, oldest = 20, horizon = 100, lasted = 0, later = [] as SeenCall[] } = {},
  ) {
    const lasting = numbered(1, before).map((one) => ({ ...one, initiatedAt: one.initiatedAt! - lasted }))
    const { success, answers } = completePoll(1, ...lasting)
    const book = ledgerBook({ baseline: 'count' })
    book.see({ answers, success: success! })
    if (later.length > 0) book.see({ answers: completePoll(20, ...later).answers })
    const made = { list: undefined, end: 'first', goal: 'end', isSecond: false, startedAt: 0, requested: 10 } as const
    const reading = newReading(made)
    for (const id of shown) reading.rows.seen.add(id)
    reading.rows.oldest = CREATED - oldest
    const poll = { ...newPoll(), success, ended: { reading, at: 'end' } as const }
    const ledger = { ...book.state, sync: { ...book.state.sync, horizon: CREATED - horizon } }
    const idsOf = (of: RunningPoll) => missingCalls(of, ledger).map(({ id }) => id)
    expect([idsOf({ ...poll, success: undefined }), idsOf({ ...poll, ended: undefined })]).toEqual([[], []])
    return idsOf(poll)
  }
  const outermost = [...ids(1, 3), ...ids(38, 40)]
  const misdated = numbered(-52, -40)

  test.each<[string, string[], string[]]>([
    ['the newest and the oldest of an empty list', missing([]), outermost],
    ['those of a short list that is empty', missing([], { before: 1 }), ['call 1']],
    ['those within the times of a list that has halved', missing(['other']), [...ids(1, 3), ...ids(17, 19)]],
    [
      'those that a halved list lacks',
      missing(['call 1', 'call 3'], { oldest: 14 }),
      ['call 2', ...ids(4, 5), ...ids(11, 13)],
    ],
    ['those since the horizon', missing(['other'], { horizon: 15 }), [...ids(1, 3), ...ids(12, 14)]],
    [
      'also those that began before it',
      missing(['other'], { horizon: 15, oldest: 60, lasted: 30 }),
      [...ids(1, 3), ...ids(12, 14)],
    ],
    ['none of those before the horizon', missing(['call 1'], { horizon: 9 }), []],
    ['none of a list that has not halved', missing(ids(1, 10)), []],
    ['none of a list that shows as many as it lacks', missing(ids(1, 10), { oldest: 21 }), []],
    ['none of a short list that has halved', missing(ids(1, 2), { before: 9 }), []],
    ['none of a list that only lacks its oldest calls', missing(ids(1, 12), { oldest: 12 }), []],
    ['none of a list that was empty before', missing([], { before: 0 }), []],
    ['none that have come in since the last successful poll', missing(ids(1, 10), { later: misdated }), []],
    ['none that were listed as invalid items, under the same keys', missing(ids(1, 40)), []],
  ])('are %s', (_what, found, expected) => {
    expect(found).toEqual(expected)
  })
})

test('a list without a total has not shrunk if it was only read to the horizon and lacks a call that Get Call knows', async () => {
  const { service, clock, outcomes } = await running({ pageSize: 10, lookback: 400 })
  service.says = { total: undefined, totalPages: undefined }
  service.calls = numbered(1, 600)
  await clock.advance(1)
  const [gone] = service.calls.splice(3, 1)
  service.known.set(gone!.id, gone!)
  await clock.advance(10 * INTERVAL)
  expect(new Set(outcomes())).toEqual(new Set(['complete', 'incremental']))
  expect(service.asked.filter((page) => page === 60)).toEqual([60])
})

describe('a list that is suddenly empty', () => {
  const over = (n: number) => seen(`call ${n}`, 'ended', { endedAt: CREATED - n, totalParticipants: 2 })

  /** A list of so many final calls, which is empty from the second poll on. Eight calls are too few to show an order. */
  async function emptied(size = 8, interval = INTERVAL) {
    const world = await running({ pageSize: 100, lookback: 600, interval })
    const all = Array.from({ length: size }, (_, n) => over(n))
    world.service.calls = all
    await world.clock.advance(1)
    world.service.asked.length = 0
    world.service.calls = []
    const successes = () => world.reports().map(({ successful }) => successful)
    return { ...world, all, successes }
  }

  test.each([8, 40])(
    'of %i calls is not accepted as long as Get Call knows any of them: no poll is successful, and no call is evicted',
    async (size) => {
      const { clock, service, book, successes } = await emptied(size)
      service.known.set('call 2', over(2))
      await clock.advance(100 * INTERVAL)
      expect(successes().slice(1)).toEqual(Array(100).fill(false))
      expect(book.state.calls.size).toBe(size)
      const asked = service.asked.filter((asked) => typeof asked === 'string').slice(0, 6)
      expect(asked).toEqual([0, 1, 2, size - 3, size - 2, size - 1].map((n) => `call ${n}`))
    },
  )

  test.each<[string, (world: Awaited<ReturnType<typeof emptied>>) => void]>([
    ['Get Call knows its calls', ({ all, service }) => all.forEach((call) => service.known.set(call.id, call))],
    [
      'Get Call is refused',
      ({ service }) => {
        const refusal = new ServiceError('scope', 'the key may not do that', { status: 403 })
        service.fails = (operation) => (operation === 'get' ? refusal : undefined)
      },
    ],
  ])('is accepted after a day, though %s', async (_what, prepare) => {
    const interval = 300
    const world = await emptied(8, interval)
    prepare(world)
    await world.clock.advance(86_400 - interval)
    expect(world.successes().slice(1)).not.toContain(true)
    await world.clock.advance(3 * interval)
    expect(world.successes().slice(-2)).toEqual([true, true])
  })

  test('is the reported problem of the poll', async () => {
    const { clock, service, reports } = await emptied()
    service.known.set('call 2', over(2))
    await clock.advance(INTERVAL)
    service.known.clear()
    await clock.advance(INTERVAL)
    const start = 'the service shows an empty list, much less than before; '
    expect(reports().map(({ problem }) => problem)).toEqual([
      undefined,
      `${start}the missing calls still exist: is its index being rebuilt?`,
      `${start}Get Call does not know the missing calls either: the next poll decides`,
    ])
  })

  test('is not accepted if Get Call only knows its older calls', async () => {
    const { clock, service, book, successes } = await emptied(40)
    for (let n = 10; n < 40; n++) service.known.set(`call ${n}`, over(n))
    await clock.advance(50 * INTERVAL)
    expect([successes().slice(1).includes(true), book.state.calls.size]).toEqual([false, 40])
  })

  test('is accepted once six of its calls are unknown in two polls', async () => {
    const { clock, book, successes } = await emptied()
    await clock.advance(2 * INTERVAL)
    expect(successes()).toEqual([true, false, true])
    await clock.advance(48 * INTERVAL)
    expect(book.state.calls.size).toBe(0)
  })

  test('is accepted as well if its order was known', async () => {
    const { clock, successes } = await emptied(40)
    await clock.advance(8 * INTERVAL)
    expect(successes().at(-1)).toBe(true)
  })

  test('is not accepted if the calls are unknown in two polls, and one was known in between', async () => {
    const { clock, service, successes } = await emptied()
    await clock.advance(INTERVAL)
    service.known.set('call 0', over(0))
    await clock.advance(INTERVAL)
    service.known.clear()
    await clock.advance(INTERVAL)
    expect(successes()).toEqual([true, false, false, false])
    await clock.advance(INTERVAL)
    expect(successes().at(-1)).toBe(true)
  })

  test('has no effect if it is full again in the next poll', async () => {
    const { clock, service, all, book, successes } = await emptied()
    service.known.set('call 2', over(2))
    await clock.advance(INTERVAL)
    service.calls = all
    await clock.advance(INTERVAL)
    expect([successes(), service.asked.at(-1), book.started()]).toEqual([[true, false, true], 2, 8])
  })
})

describe('a list that shows less than half of its calls', () => {
  const over = (n: number) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED - n, endedAt: CREATED - n })

  test('fails no poll that joins, and is not accepted by a sweep', async () => {
    const { clock, service, book, reports, outcomes } = await running()
    const all = Array.from({ length: 40 }, (_, n) => over(40 - n))
    service.calls = all
    await clock.advance(INTERVAL)
    for (const call of all) service.known.set(call.id, call)
    service.calls = all.filter((_call, n) => n < 5 || n >= 32)
    service.says = { total: undefined, totalPages: undefined }
    await clock.advance(10 * INTERVAL)
    expect(outcomes().slice(2)).toEqual(Array(10).fill('incremental'))
    await clock.advance(1000)
    expect(outcomes().slice(2)).not.toContain('complete')
    expect(reports().at(-1)).toMatchObject({ successful: false })
    expect(reports().at(-1)?.problem).toContain('the service shows only 13 calls')
    expect(book.state.calls.size).toBe(40)
  })
})

test('a list that has lost most of its calls is accepted by two sweeps, though polls join in between', async () => {
  const world = await running({ pageSize: 10, lookback: 3600, maxRequestsPerMinute: 24 })
  const { clock, service, reports, book } = world
  service.calls = numbered(1, 400)
  await clock.advance(40 * INTERVAL)
  expect(book.state.calls.size).toBe(400)
  service.calls = service.calls.filter((_call, n) => n < 40 || n % 5 === 0)
  await clock.advance(3600)
  const since = reports().slice(-20)
  expect(since.map(({ problem }) => problem)).toEqual(Array(20).fill(undefined))
  expect(reports().filter(({ outcome }) => outcome === 'complete').length).toBeGreaterThan(2)
})

describe('a list that becomes empty during a sweep', () => {
  /** A list of forty calls in no order, of which eight are too old to be tracked. Each poll reads all of it. */
  async function unordered() {
    const world = await running({ pageSize: 4, lookback: 600 })
    const all = Array.from({ length: 40 }, (_, n) => call(n < 32 ? (n * 17) % 32 : n * 100))
    world.service.calls = all
    await world.clock.advance(1)
    for (const call of all) world.service.known.set(call.id, call)
    return { ...world, all }
  }

  test('is not accepted by the next polls, though one had shown most of it', async () => {
    const { clock, service, book, reports } = await unordered()
    service.beforePage = (page) => {
      if (page === 9) service.calls = []
    }
    await clock.advance(3 * INTERVAL)
    expect(reports().map(({ successful }) => successful)).toEqual([true, true, false, false])
    expect(book.state.calls.size).toBe(32)
  })

  test('is the same list if only one answer was empty', async () => {
    const { clock, service, all, reports } = await unordered()
    const asked = service.asked.length
    service.beforePage = (page) => {
      service.calls = page === 5 && service.asked.length === asked + 5 ? [] : all
    }
    await clock.advance(INTERVAL)
    expect(reports().map(({ successful }) => successful)).toEqual([true, true])
    expect(service.asked.slice(asked)).toEqual([1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 10, 11])
  })
})
