import { describe, expect, test } from 'vitest'
import { findLastPage } from '../../../src/polling/list/last-page.ts'
import { newListMemory } from '../../../src/polling/list/list-state.ts'
import { newPoll } from '../../../src/polling/poll.ts'
import { newPollContext } from '../../../src/polling/poll-context.ts'
import { newReading } from '../../../src/polling/list/reading.ts'
import type { CallPage } from '../../../src/service/calls-client.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { KNOWN_LIST, ledgerBook } from '../../kit/ledger/seen.ts'
import { call, numbered, pageOf, polling } from './polling.ts'

type Setup = {
  /** How many calls the list has, oldest first, in pages of ten. */
  calls: number
  /** The page that was last in the poll before; and whether the items of a page are known. */
  before?: number
  isSizeKnown?: boolean
  total?: number
  goal?: 'joint' | 'end'
  /** Whether the last page is shown instead of later ones. */
  isClamped?: boolean
}

/** The pages that it asks for, and the number of the one that it finds. */
async function find({ calls, before, isSizeKnown = true, total, goal = 'joint', isClamped = false }: Setup) {
  const list = numbered(1, calls).toReversed()
  const last = Math.max(1, Math.ceil(calls / 10))
  const memory = newListMemory({ list: { ...KNOWN_LIST, end: 'last', joint: list.map(({ id }) => id) } }, 0)
  Object.assign(memory.pages, { last: before, size: isSizeKnown ? 10 : undefined })
  const asked: number[] = []
  const fetchPage = async (page: number): Promise<CallPage> => {
    asked.push(page)
    if (asked.length > 30) throw new Error('it asks on and on')
    const shown = isClamped ? Math.min(page, last) : page
    return pageOf(page, list.slice((shown - 1) * 10, shown * 10), { total })
  }
  const reading = newReading({ list: memory.list, end: 'last', goal, isSecond: false, startedAt: 0, requested: 10 })
  const { state } = ledgerBook()
  const options = { memory, state, fetchPage, clock: virtualClock(), horizon: 0, sweepInterval: 900, slice: 3 }
  const rest = { lookback: 0, maySweep: () => true, interval: 15, pageSize: 10, callsToRequest: () => [] }
  const pages = findLastPage(newPollContext(newPoll(), { ...options, ...rest }), reading)
  for (;;) {
    const { done, value } = await pages.next()
    if (done === true) return { asked, found: value, isLast: value.keys.at(-1) === list.at(-1)?.id, memory }
  }
}

describe('the last page of a list that grows there', () => {
  test.each<[string, Setup, number[]]>([
    ['with one request, if it is short, and has known rows', { calls: 37, before: 4 }, [4]],
    ['with a look at the next one, if it is full', { calls: 40, before: 4 }, [4, 5]],
    ['on the next page, if that has the rows that came in', { calls: 43, before: 4 }, [4, 5]],
    [
      'by doubling and halving, if the list has grown far',
      { calls: 213, before: 4 },
      [4, 5, 7, 11, 19, 35, 27, 23, 21, 22],
    ],
    ['at once, where the service says its number', { calls: 213, total: 213 }, [1, 22]],
    ['at once, though the service says too small a number', { calls: 43, before: 4, total: 40 }, [4, 5]],
    ['by doubling and halving, at first', { calls: 77 }, [1, 2, 4, 8]],
    ['by halving, if the list got shorter', { calls: 33, before: 20 }, [20, 10, 5, 2, 3, 4]],
    ['with a look at the next one, for a sweep', { calls: 37, before: 4, goal: 'end' }, [4, 5]],
    ['with one request, if the list is empty', { calls: 0 }, [1]],
    ['with one request, after it became empty', { calls: 0, before: 1 }, [1]],
    [
      'with a look at the next one, if a page may have any number of items',
      { calls: 37, before: 4, isSizeKnown: false },
      [4, 5],
    ],
  ])('is found %s', async (_what, setup, asked) => {
    const last = Math.max(1, Math.ceil(setup.calls / 10))
    const found = await find(setup)
    expect(found.asked).toEqual(asked)
    expect([found.found.page, found.isLast]).toEqual([last, true])
    if (setup.calls > 0) expect(found.memory.pages.last).toBe(last)
  })

  test('is found where the service shows it again past the end', async () => {
    for (const calls of [40, 77]) expect((await find({ calls, before: 4, isClamped: true })).isLast).toBe(true)
  })

  test('is not taken for a short page amid the list, where other pages are short as well', async () => {
    const { service, next, newest, book } = polling({ pageSize: 10, sweepInterval: 10_000 })
    // The service leaves two calls out of every other page.
    service.shows = (page) => {
      const calls = page.page % 2 === 0 ? page.calls.slice(0, 8) : page.calls
      return {
        ...page,
        calls,
        keys: calls.map(({ id }) => id),
        items: calls.length,
        total: undefined,
        totalPages: undefined,
      }
    }
    service.calls = numbered(1, 40).toReversed()
    await next()
    service.calls = [...service.calls, call(newest())]
    await next()
    expect(book.finished()).toBe(1)
  })
})
