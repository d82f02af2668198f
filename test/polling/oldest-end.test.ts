import { describe, expect, test } from 'vitest'
import {
  assumeLeft,
  newIncrementalPoll,
  addOldestEndPage,
  type IncrementalPoll,
} from '../../src/polling/incremental-poll.ts'
import type { ListPage } from '../../src/polling/poll-context.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { call, polling, numbered } from './polling.ts'

const TOO_DEEP = new ServiceError('server', 'took too long', { status: 504 })
const idsOf = (from: number, to: number) => numbered(from, to).map(({ id }) => id)

describe('an incremental poll that reads the oldest end', () => {
  /** Of a list that had calls 1 to 40, newest first, and has so many now. */
  const incremental = (total: number): IncrementalPoll => ({
    ...newIncrementalPoll(
      { order: 'newest first', total: 40, verified: true, pageSize: 4, oldestIds: idsOf(37, 40).toReversed() },
      4,
      true,
    ),
    total,
    mayHaveMore: false,
  })
  const page = (total: number | undefined, from: number, to: number, ...more: number[]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a page says nothing about it
    ({ total, calls: [...numbered(from, to), ...more.map(call)] }) as unknown as ListPage

  test.each<[string, number, number[], ListPage, string, number | undefined]>([
    ['verified if none has left', 42, [-1, 0], page(42, 37, 40), 'verified', 0],
    ['verified if two have left', 40, [-1, 0], page(40, 35, 38), 'verified', 2],
    ['unexplained if one has left, but the total lacks two', 38, [], page(38, 36, 39), 'unexplained', 1],
    ['verified if an unknown call was added there, as the total says', 41, [], page(41, 38, 40, 99), 'verified', -1],
    ['unexplained if a call was added there, but the total lacks it', 40, [], page(40, 38, 40, 99), 'unexplained', -1],
    ['unexplained if the oldest end is of another list', 38, [], page(38, 90, 93), 'unexplained', undefined],
    ['unexplained if the oldest end has no total', 40, [], page(undefined, 37, 40), 'unexplained', undefined],
  ])('is %s', (_what, total, newIds, last, verification, left) => {
    const taken = incremental(total)
    expect(addOldestEndPage(taken, last, new Set(newIds.map((n) => `call ${n}`)))).toBe(verification)
    expect([taken.left, taken.isMisplaced]).toEqual([left, false])
  })

  test('refutes the order if a new call is there', () => {
    const taken = incremental(41)
    addOldestEndPage(taken, page(41, 38, 40, 0), new Set(['call 0']))
    expect(taken.isMisplaced).toBe(true)
  })

  test.each([
    ['that no call has left if the total lacks none', 41, 'verified', 0],
    ['that as many calls have left as the total lacks', 38, 'verified', 3],
    ['that up to ten calls and a tenth of the list have left', 27, 'verified', 14],
    ['nothing if the total lacks more than that', 26, 'unexplained', undefined],
  ])('and fails assumes %s', (_what, total, verification, left) => {
    const taken = incremental(total)
    expect(assumeLeft(taken, new Set(['call 0']))).toBe(verification)
    expect([taken.left, taken.isAssumed]).toEqual([left, left !== undefined && left > 0])
  })
})

describe('an oldest end that cannot be read', () => {
  /** Pages from the eighth on time out, and the list is longer than the lookback. */
  async function unreadable() {
    const world = polling({ lookback: 12, sweepInterval: 300 })
    world.service.calls = numbered(1, 40)
    world.service.fails = (_operation, page) => (Number(page) >= 8 ? TOO_DEEP : undefined)
    const first = await world.poll()
    return { ...world, first }
  }

  test('fails no poll, not even the first one', async () => {
    const { first, poll } = await unreadable()
    const polls = [first]
    for (let n = 0; n < 60; n++) polls.push(await poll())
    expect(polls.filter(({ success }) => success === undefined)).toEqual([])
    expect(polls.some(({ success }) => success?.movesHorizon)).toBe(true)
  })

  test('is requested once a sweep interval, not in every poll', async () => {
    const { service, poll, clock } = await unreadable()
    const began = clock.wall()
    let deep = 0
    for (let n = 0; n < 80; n++) {
      service.calls = numbered(1 - Math.floor(n / 2), 40 - Math.floor(n / 2))
      await poll()
      deep += service.asked.filter((page) => Number(page) >= 8).length
    }
    // The oldest end, and the page at which the sweep fails, which is requested twice.
    expect(deep).toBeLessThanOrEqual(3 * ((clock.wall() - began) / 300 + 1))
  })

  test('makes polls assume that calls leave there while new ones are added', async () => {
    const { service, next, has, untilComplete } = await unreadable()
    await untilComplete()
    service.calls = numbered(-1, 38)
    expect(await next()).toEqual(['incremental', [1]])
    service.calls = numbered(-2, 35)
    expect((await next())[0]).toBe('incremental')
    expect(has(-2)).toBe(true)
  })

  test('lets no total be verified, because the calls that left were not seen', async () => {
    const { service, next, poll, book, untilComplete } = await unreadable()
    service.fails = () => undefined
    await untilComplete()
    await untilComplete()
    expect(book.state.sync.list?.verified).toBe(true)
    service.fails = (_operation, page) => (Number(page) >= 8 ? TOO_DEEP : undefined)
    service.calls = numbered(-1, 37)
    expect((await next())[0]).toBe('incremental')
    expect(book.state.sync.list?.verified).toBe(false)
    service.fails = () => undefined
    for (let n = 0; n < 50; n++) await poll()
    expect(book.state.sync.list?.verified).toBe(true)
  })
})
