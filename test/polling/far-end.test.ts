import { describe, expect, test } from 'vitest'
import { assumeLeft, newIncrement, takeFarEnd, type Increment } from '../../src/polling/increment.ts'
import type { ListPage } from '../../src/polling/page-reader.ts'
import { ServiceError } from '../../src/service/service-error.ts'
import { call, polling, numbered } from './polling.ts'

const TOO_DEEP = new ServiceError('server', 'took too long', { status: 504 })
const idsOf = (from: number, to: number) => numbered(from, to).map(({ id }) => id)

describe('what the far end says', () => {
  /** An increment of a list that had calls 1 to 40, newest first, and has so many now. */
  const increment = (total: number): Increment => ({
    ...newIncrement(
      { order: 'newest first', total: 40, verified: true, pageSize: 4, end: idsOf(37, 40).toReversed() },
      4,
      true,
    ),
    total,
    goesOn: false,
  })
  const page = (total: number | undefined, from: number, to: number, ...more: number[]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a page says nothing about it
    ({ total, calls: [...numbered(from, to), ...more.map(call)] }) as unknown as ListPage

  test.each<[string, number, number[], ListPage, string, number | undefined]>([
    ['that none has left', 42, [-1, 0], page(42, 37, 40), 'proven', 0],
    ['that two have left', 40, [-1, 0], page(40, 35, 38), 'proven', 2],
    ['that one has left, which does not explain two', 38, [], page(38, 36, 39), 'unexplained', 1],
    ['that an unknown one came in there, as the total says', 41, [], page(41, 38, 40, 99), 'proven', -1],
    ['that one came in there, though the total lacks it', 40, [], page(40, 38, 40, 99), 'unexplained', -1],
    ['nothing, of another list', 38, [], page(38, 90, 93), 'unexplained', undefined],
    ['nothing, without a total', 40, [], page(undefined, 37, 40), 'unexplained', undefined],
  ])('is %s', (_what, total, fresh, last, progress, left) => {
    const taken = increment(total)
    expect(takeFarEnd(taken, last, new Set(fresh.map((n) => `call ${n}`)))).toBe(progress)
    expect([taken.left, taken.isMisplaced]).toEqual([left, false])
  })

  test('is that the order is another one where a new call stands there', () => {
    const taken = increment(41)
    takeFarEnd(taken, page(41, 38, 40, 0), new Set(['call 0']))
    expect(taken.isMisplaced).toBe(true)
  })

  test.each([
    ['none, where the total lacks none', 41, 'proven', 0],
    ['as many as the total lacks', 38, 'proven', 3],
    ['as many as ten and a tenth of the list', 27, 'proven', 14],
    ['not more than that', 26, 'unexplained', undefined],
  ])('that cannot be read is taken to have lost %s', (_what, total, progress, left) => {
    const taken = increment(total)
    expect(assumeLeft(taken, new Set(['call 0']))).toBe(progress)
    expect([taken.left, taken.isAssumed]).toEqual([left, left !== undefined && left > 0])
  })
})

describe('a far end that cannot be read', () => {
  /** Pages from the eighth on take too long, and the history is longer than the lookback. */
  async function unreadable() {
    const world = polling({ lookback: 12, sweepInterval: 300 })
    world.service.calls = numbered(1, 40)
    world.service.fails = (_operation, page) => (Number(page) >= 8 ? TOO_DEEP : undefined)
    const first = await world.poll()
    return { ...world, first }
  }

  test('does not keep the first poll from being successful, nor any after it', async () => {
    const { first, poll } = await unreadable()
    const looks = [first]
    for (let n = 0; n < 60; n++) looks.push(await poll())
    expect(looks.filter(({ end }) => end === undefined)).toEqual([])
    expect(looks.some(({ end }) => end?.complete)).toBe(true)
  })

  test('is asked for once a sweep interval, not at every poll', async () => {
    const { service, poll, clock } = await unreadable()
    const began = clock.wall()
    let deep = 0
    for (let n = 0; n < 80; n++) {
      service.calls = numbered(1 - Math.floor(n / 2), 40 - Math.floor(n / 2))
      await poll()
      deep += service.asked.filter((page) => Number(page) >= 8).length
    }
    // The far end, and the page at which the sweep comes to it, which is tried twice.
    expect(deep).toBeLessThanOrEqual(3 * ((clock.wall() - began) / 300 + 1))
  })

  test('explains calls that leave there as new ones come in, though nobody sees them leave', async () => {
    const { service, next, has, untilWhole } = await unreadable()
    await untilWhole()
    service.calls = numbered(-1, 38)
    expect(await next()).toEqual(['incremental', [1]])
    service.calls = numbered(-2, 35)
    expect((await next())[0]).toBe('incremental')
    expect(has(-2)).toBe(true)
  })

  test('says nothing of what was seen to be all: a total that was reckoned with it is not verified', async () => {
    const { service, next, poll, book, untilWhole } = await unreadable()
    service.fails = () => undefined
    await untilWhole()
    await untilWhole()
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
