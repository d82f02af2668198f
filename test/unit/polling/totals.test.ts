import { describe, expect, test } from 'vitest'
import type { CallPage } from '../../../src/service/calls-client.ts'
import { numbered, polling } from './polling.ts'

type Says = (page: CallPage, length: number, seconds: number) => Partial<CallPage>
const total = (total: number | undefined) => ({ total, totalPages: total && Math.ceil(total / 10) })

/** What a service may say of its list; `length` is right. */
const TOTALS: Record<string, () => Says> = {
  'is right': () => (_page, length) => total(length),
  'is absent': () => () => total(undefined),
  'is absent, with a number of pages': () => (_page, length) => ({
    totalPages: Math.ceil(length / 10),
    total: undefined,
  }),
  'is absent, with too small a number of pages': () => () => ({ total: undefined, totalPages: 2 }),
  'is always 0': () => () => total(0),
  'is 1': () => () => total(1),
  'counts the page alone':
    () =>
    ({ items }) =>
      total(items),
  'counts the page alone, where pages are shorter than requested':
    () =>
    ({ items }) =>
      total(items),
  'stops at a cap': () => (_page, length) => total(Math.min(20, length)),
  'counts rows that no page shows': () => (_page, length) => total(length + 7),
  'counts most of the rows only': () => (_page, length) => total(length - 7),
  'is from the request before': () => {
    let before = 0
    return (_page, length) => {
      const said = before
      before = length
      return total(said)
    }
  },
  'is another one in each answer': () => {
    let answers = 0
    return (_page, length) => total(length + ((answers++ * 7) % 5) - 2)
  },
  'is from a cache of forty seconds': () => {
    const cached = { until: -Infinity, length: 0 }
    return (_page, length, seconds) => {
      if (seconds >= cached.until) Object.assign(cached, { until: seconds + 40, length })
      return total(cached.length)
    }
  },
}

describe.each(Object.keys(TOTALS))('where the total %s', (which) => {
  describe.each(['newest first', 'oldest first'])('and the list is %s', (order) => {
    const short = which.includes('shorter')
    const inOrder = (calls: ReturnType<typeof numbered>) => (order === 'newest first' ? calls : calls.toReversed())

    test('each call counts once, in the poll after it came in, and no poll is without success', async () => {
      const { service, clock, newest, poll, untilComplete, book } = polling({
        pageSize: short ? 6 : 10,
        requested: 10,
        lookback: 3600,
        sweepInterval: 300,
      })
      const says = TOTALS[which]!()
      service.shows = (page) => ({ ...page, ...says(page, service.calls.length, clock.wall()) })
      let calls = numbered(1, 44)
      service.calls = inOrder(calls)
      await untilComplete()
      let added = 0
      for (const count of [1, 0, 3, 10, 0, 14, 2, 0, 9, 9, 8, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5]) {
        const latest = newest()
        calls = [...numbered(latest, latest + count - 1), ...calls]
        added += count
        service.calls = inOrder(calls)
        expect((await poll()).success).toBeDefined()
        expect(book.finished()).toBe(added)
      }
    })
  })
})

describe('a total that grows while nothing comes in at the end', () => {
  /** The kinds of the next polls, and whether they read the whole list. */
  async function afterGrowth(elsewhere: boolean) {
    const world = polling({ pageSize: 10, slice: 3, sweepInterval: 10_000 })
    const { service, poll, newest, clock, untilComplete } = world
    service.calls = numbered(1, 50)
    await untilComplete()
    await clock.advance(600)
    await poll()
    const late = { ...numbered(newest(), newest())[0]!, initiatedAt: numbered(40, 40)[0]!.initiatedAt }
    service.shows = (page) => ({ ...page, total: 51 })
    if (elsewhere) service.calls = service.calls.toSpliced(40, 0, late)
    return { ...world, late }
  }
  const TRIPPED = [1, 2, 3, 4]

  test('starts a sweep, which finds the call that came in elsewhere', async () => {
    const { service, poll, book } = await afterGrowth(true)
    await poll()
    expect(service.asked).toEqual(TRIPPED)
    await poll()
    expect(service.asked).toEqual([1, 5, 6, 7])
    expect(book.finished()).toBe(1)
  })

  test('starts one sweep, and none for a day if that has found nothing', async () => {
    const { service, next, poll, clock } = await afterGrowth(false)
    const kinds = [await next(), await next()]
    expect(kinds.map(([kind]) => kind)).toEqual(['incremental', 'complete'])
    service.shows = (page) => ({ ...page, total: 60 })
    for (let polls = 0; polls < 20; polls++) await poll()
    service.shows = (page) => ({ ...page, total: 70 })
    expect(await next()).toEqual(['incremental', [1]])
    await clock.advance(86_400)
  })

  test('starts one sweep a day, if it counts each call twice', async () => {
    const { service, poll, newest } = await afterGrowth(false)
    let pages = 0
    for (let n = 0; n < 20; n++) {
      service.calls = [...numbered(newest(), newest()), ...service.calls]
      service.shows = (page) => ({ ...page, total: 2 * service.calls.length })
      await poll()
      pages += service.asked.length
    }
    // Pages of the list, and of the polls: some of them join one row before the end of a page.
    expect(pages).toBeLessThanOrEqual(7 + 2 * 20)
  })

  test('never makes a poll unsuccessful', async () => {
    const { service, poll } = await afterGrowth(false)
    for (let n = 0; n < 30; n++) {
      service.shows = (page) => ({ ...page, total: 100 + n })
      expect((await poll()).success).toBeDefined()
    }
  })
})
