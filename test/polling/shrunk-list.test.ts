import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../src/service/service-error.ts'
import { newPoll } from '../../src/polling/poll.ts'
import { missingCalls } from '../../src/polling/shrunk-list.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../ledger/seen.ts'
import { call, numbered } from './polling.ts'
import { INTERVAL, running } from '../pipeline/running.ts'

describe('the missing calls of a list that has shrunk', () => {
  /** Of a list that had calls 1 to 40, and now has these. */
  function missing(
    size: number | undefined,
    listed: string[],
    { before = 40, oldest = CREATED - 20 }: { before?: number | 'unknown'; oldest?: number } = {},
  ) {
    const { success, answers } = completePoll(1, ...numbered(1, 40))
    const book = ledgerBook({ baseline: 'count' })
    book.see({
      answers,
      success: success!,
      listTraits: before === 'unknown' ? { hidden: 0 } : { hidden: 0, size: before },
    })
    const poll = {
      ...newPoll(),
      serviceTime: CREATED + 16,
      size,
      oldest,
      success: { ...success!, listed: new Set(listed) },
    }
    return missingCalls(poll, book.state).map(({ id }) => id)
  }
  const outermost = ['call 1', 'call 2', 'call 3', 'call 38', 'call 39', 'call 40']

  test.each<[string, ReturnType<typeof missing>, string[]]>([
    ['the newest and the oldest of an empty list', missing(0, []), outermost],
    [
      'those within the times of a list that has halved',
      missing(19, []),
      [...outermost.slice(0, 3), 'call 17', 'call 18', 'call 19'],
    ],
    [
      'those that a halved list lacks',
      missing(15, ['call 1', 'call 3'], { oldest: CREATED - 7 }),
      ['call 2', 'call 4', 'call 5', 'call 6'],
    ],
    ['none of a list that has not halved', missing(20, []), []],
    ['none of a list that has grown', missing(41, []), []],
    ['none of a list whose size is unknown', missing(undefined, []), []],
    ['none of a list whose size was unknown before', missing(0, [], { before: 'unknown' }), []],
    ['none of a list that was empty before', missing(0, [], { before: 0 }), []],
    ['none of a short list that has halved', missing(4, [], { before: 9 }), []],
    ['those of a short list that is empty', missing(0, [], { before: 1 }), outermost],
    ['none of a list that only lacks its oldest calls', missing(2, ['call 1', 'call 2'], { oldest: CREATED - 2 }), []],
  ])('are %s', (_what, found, expected) => {
    expect(found).toEqual(expected)
  })

  test('are not those that were seen before the oldest listed call began, though they say that they began later', () => {
    const misdated = [30, 31, 32].map((n) =>
      seen(`call ${n}`, 'ended', { initiatedAt: CREATED + n, endedAt: CREATED + n }),
    )
    const { success, answers } = completePoll(1, ...numbered(1, 20), ...misdated)
    const book = ledgerBook({ baseline: 'count' })
    book.see({ answers, success: success!, listTraits: { hidden: 0, size: 40 } })
    const later = completePoll(20, seen('call 21', 'ended', { initiatedAt: CREATED + 19, endedAt: CREATED + 19 }))
    book.see({ answers: later.answers })
    const poll = {
      ...newPoll(),
      serviceTime: CREATED + 40,
      size: 15,
      oldest: CREATED + 10,
      success: { ...success!, listed: new Set<string>() },
    }
    expect(missingCalls(poll, book.state).map(({ id }) => id)).toEqual(['call 21'])
  })

  test('are not those that were listed as invalid items', () => {
    const { success, answers } = completePoll(1, ...numbered(1, 40))
    const book = ledgerBook({ baseline: 'count' })
    book.see({ answers, success: success!, listTraits: { hidden: 0, size: 40 } })
    const listed = new Set(['call 1', 'call 3'])
    const poll = {
      ...newPoll(),
      serviceTime: CREATED + 16,
      size: 3,
      oldest: CREATED - 4,
      success: { ...success!, listed },
    }
    expect(missingCalls({ ...poll, invalidKeys: new Set(['call 2']) }, book.state)).toEqual([])
  })

  test('are none if the poll was not successful', () => {
    const { answers, success } = completePoll(1, call(1))
    const book = ledgerBook({ baseline: 'count' })
    book.see({ answers, success: success!, listTraits: { hidden: 0, size: 1 } })
    expect(missingCalls({ ...newPoll(), size: 0, oldest: 0, serviceTime: CREATED + 2 }, book.state)).toEqual([])
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
  expect([...new Set(outcomes())]).toEqual(['complete'])
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
    expect(book.state.sync.listTraits?.size).toBe(0)
    await clock.advance(41 * INTERVAL)
    expect(book.state.calls.size).toBe(0)
  })

  test('is accepted as well if its order was known, so that its total is unexplained', async () => {
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
    expect([successes(), service.asked.at(-1), book.started()]).toEqual([[true, false, true], 1, 1])
  })
})

describe('a list that shows less than half of its calls', () => {
  const over = (n: number) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED - n, endedAt: CREATED - n })

  test('is not accepted in a poll that only reads the newest pages to end a sweep', async () => {
    const { clock, service, book, reports } = await running()
    const all = Array.from({ length: 40 }, (_, n) => over(40 - n))
    service.calls = all
    await clock.advance(INTERVAL)
    for (const call of all) service.known.set(call.id, call)
    service.calls = all.filter((_call, n) => n < 5 || n >= 32)
    service.says = { total: undefined, totalPages: undefined }
    service.fails = (_operation, asked) => (asked === 4 ? new ServiceError('server', 'an error') : undefined)
    await clock.advance(INTERVAL)
    service.fails = () => undefined
    await clock.advance(INTERVAL)
    expect(reports().map(({ successful }) => successful)).toEqual([true, true, false, false])
    expect(reports().at(-1)?.problem).toContain('the service shows only 13 calls')
    expect(book.state.sync.listTraits?.size).toBe(40)
  })
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

  test('is read again from its first page', async () => {
    const { clock, service, book, reports } = await unordered()
    service.beforePage = (page) => {
      if (page === 9) service.calls = []
    }
    await clock.advance(3 * INTERVAL)
    expect(reports().map(({ successful }) => successful)).toEqual([true, false, false, false])
    expect(book.state.sync.listTraits?.size).toBe(40)
  })

  test('is the same list if only one answer was empty', async () => {
    const { clock, service, all, reports } = await unordered()
    const asked = service.asked.length
    service.beforePage = (page) => {
      service.calls = page === 5 && service.asked.length === asked + 5 ? [] : all
    }
    await clock.advance(INTERVAL)
    expect(reports().map(({ successful }) => successful)).toEqual([true, true])
    expect(service.asked.slice(asked)).toEqual([1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11])
  })
})
