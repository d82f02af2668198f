import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { advance, newReading, type Knowledge } from '../../../src/polling/list/reading.ts'
import type { CallPage } from '../../../src/service/calls-client.ts'
import { CREATED, KNOWN_LIST, seen } from '../../kit/ledger/seen.ts'
import { numbered, ongoing, pageOf, shuffled } from './polling.ts'

const KNOWLEDGE: Knowledge = {
  isByTime: true,
  mayEndAtHorizon: true,
  knowsNewer: () => false,
  overlap: 0,
  isSettled: () => true,
  sweptAt: -Infinity,
  isNew: () => false,
  isOlderThanHorizon: () => false,
}
const idsOf = (calls: readonly SeenCall[]) => calls.map(({ id }) => id)

type Setup = {
  /** The calls of the list, in pages of ten; or what the n-th request shows. */
  list: SeenCall[] | ((asked: number) => SeenCall[])
  known?: { joint: string[]; isWhole?: boolean }
  from?: 'first' | 'last'
  goal?: 'joint' | 'horizon' | 'end'
  knowledge?: Partial<Knowledge>
  /** What pages say of the list. */
  says?: (page: CallPage, asked: number) => Partial<CallPage>
  /** The page that the service shows instead of a later one. */
  deepest?: number
}

/** The pages that a reading asks for, and what it reaches. */
function read({ list, known, from = 'first', goal = 'joint', knowledge = {}, says, deepest = Infinity }: Setup) {
  const joined = known && { ...KNOWN_LIST, end: from, ...known }
  const reading = newReading({ list: joined, end: from, goal, isSecond: false, startedAt: 0, requested: 10 })
  const asked: (number | string)[] = []
  if (from === 'last') reading.next = Math.ceil((typeof list === 'function' ? list(0) : list).length / 10)
  for (let requests = 0; requests < 60; requests++) {
    const number = reading.next
    const shown = Math.min(number, deepest)
    const calls = (typeof list === 'function' ? list(requests) : list).slice((shown - 1) * 10, shown * 10)
    const page = pageOf(number, calls)
    asked.push(number)
    const step = advance(reading, { ...page, ...says?.(page, requests) }, { ...KNOWLEDGE, ...knowledge })
    if (step !== 'next page') return { asked: [...asked, step], reading }
  }
  throw new Error('it reads on and on')
}

const KNOWN = { joint: idsOf(numbered(1, 40)) }
const isOlderThan =
  (n: number) =>
  ({ calls }: CallPage) =>
    calls.every(({ initiatedAt }) => initiatedAt! < CREATED - n)

describe('a reading to the joint asks for', () => {
  test.each<[string, Setup, (number | string)[]]>([
    ['two pages, for an overlap of twelve', { list: numbered(1, 40), knowledge: { overlap: 12 } }, [1, 2, 'joint']],
    [
      'pages from the last one back, as far as rows are new',
      { list: numbered(-14, 40).toReversed(), from: 'last' },
      [6, 5, 4, 'joint'],
    ],
    [
      'all pages, if the list is in no order of time',
      { list: numbered(1, 25), knowledge: { isByTime: false } },
      [1, 2, 3, 4, 'end'],
    ],
    [
      'the page that is older than the horizon, if it joins nowhere before',
      { list: numbered(101, 150), knowledge: { isOlderThanHorizon: isOlderThan(120) } },
      [1, 2, 3, 'horizon'],
    ],
    [
      'the page after them, if the calls that are known fill theirs',
      {
        list: numbered(1, 12),
        known: { joint: idsOf(numbered(1, 10)), isWhole: true },
        knowledge: { isByTime: false },
      },
      [1, 2, 3, 'end'],
    ],
  ])('%s', (_what, setup, asked) => {
    expect(read({ known: KNOWN, ...setup }).asked).toEqual(asked)
  })
})

describe('a reading of the whole list asks for', () => {
  test.each<[string, Setup, (number | string)[]]>([
    [
      'all pages from the last one to the first',
      { list: numbered(1, 30).toReversed(), from: 'last' },
      [3, 2, 1, 'end'],
    ],
    ['all pages, though it could join', { list: numbered(1, 30), known: KNOWN }, [1, 2, 3, 4, 'end']],
    [
      'no page older than the horizon, if that is enough',
      { list: numbered(1, 50), goal: 'horizon', knowledge: { isOlderThanHorizon: isOlderThan(20) } },
      [1, 2, 3, 'horizon'],
    ],
    [
      'all pages, if the last reading found them out of order of time',
      {
        list: numbered(1, 30),
        goal: 'horizon',
        knowledge: { isOlderThanHorizon: isOlderThan(20), mayEndAtHorizon: false },
      },
      [1, 2, 3, 4, 'end'],
    ],
    [
      'all pages, if one is older than the horizon, and newer calls that are known come later',
      {
        list: numbered(21, 60),
        goal: 'horizon',
        knowledge: { isOlderThanHorizon: isOlderThan(20), knowsNewer: () => true },
      },
      [1, 2, 3, 4, 5, 'end'],
    ],
    [
      'pages after one older than the horizon, if that is not enough',
      { list: numbered(1, 50), knowledge: { isOlderThanHorizon: isOlderThan(20) } },
      [1, 2, 3, 4, 5, 6, 'end'],
    ],
    ['a page that is shown instead of two later ones', { list: numbered(1, 50), deepest: 3 }, [1, 2, 3, 4, 5, 'stuck']],
    [
      'pages that repeat the ones before, while as many calls come in as a page has',
      {
        list: (asked) => numbered(1 - 10 * Math.min(asked, 4), 20),
        says: (_page, asked) => ({ total: 20 + 10 * Math.min(asked, 4) }),
      },
      [1, 2, 3, 4, 5, 6, 7, 'end'],
    ],
  ])('%s', (_what, setup, asked) => {
    expect(read({ goal: 'end', ...setup }).asked).toEqual(asked)
  })
})

describe('a reading goes back to the page before', () => {
  const inOrder = numbered(1, 40)
  /** Call 3 is deleted between the first two requests, and call 11 moves to the page that was read. */
  const deleted = (asked: number) => (asked === 0 ? inOrder : inOrder.toSpliced(2, 1))

  test.each<[string, Setup, (number | string)[]]>([
    [
      'if the total falls',
      { list: deleted, says: (_page, asked) => ({ total: asked === 0 ? 40 : 39 }) },
      [1, 2, 1, 2, 3, 4, 5, 'end'],
    ],
    [
      'if a page is empty, and the total falls',
      { list: (asked) => (asked === 1 ? [] : inOrder), says: (_page, asked) => ({ total: asked === 1 ? 0 : 40 }) },
      [1, 2, 1, 2, 3, 4, 5, 'end'],
    ],
    [
      'if that was short',
      {
        list: inOrder,
        says: ({ page, calls, keys }, asked) =>
          page === 2 && asked === 1 ? { calls: calls.slice(2), keys: keys.slice(2), items: 8 } : {},
      },
      [1, 2, 3, 2, 3, 4, 5, 'end'],
    ],
    [
      'once, if it is as short again',
      {
        list: inOrder,
        says: ({ page, calls, keys }) => (page === 2 ? { calls: calls.slice(2), keys: keys.slice(2), items: 8 } : {}),
      },
      [1, 2, 3, 2, 3, 4, 5, 'end'],
    ],
    [
      'once, though other pages are short as well',
      {
        list: numbered(1, 50),
        says: ({ page, calls, keys }) =>
          page % 2 === 0 ? { calls: calls.slice(2), keys: keys.slice(2), items: Math.max(0, calls.length - 2) } : {},
      },
      [1, 2, 3, 2, 3, 4, 5, 6, 'end'],
    ],
    [
      'not if the total grows',
      { list: inOrder, says: (_page, asked) => ({ total: 40 + asked }) },
      [1, 2, 3, 4, 5, 'end'],
    ],
    [
      'not if only the last page is short, from which it begins',
      { list: numbered(1, 37).toReversed(), from: 'last' },
      [4, 3, 2, 1, 'end'],
    ],
  ])('%s', (_what, setup, asked) => {
    const { asked: got, reading } = read({ goal: 'end', ...setup })
    expect(got).toEqual(asked)
    if (setup.list === deleted) expect(reading.rows.seen.has('call 11')).toBe(true)
  })
})

describe('a list in no order of time, read to its end', () => {
  const knowledge = { isByTime: false }
  const calls = numbered(1, 20)
  /** Each page begins with the last row of the one before. */
  const overlapping = calls.flatMap((call, n) => (n > 0 && n % 9 === 0 ? [call, call] : call)).slice(0, 22)

  test.each<[string, Setup, (number | string)[]]>([
    ['is read once, if no row is on two pages', { list: calls }, [1, 2, 3, 'end']],
    [
      'is read again until that shows nothing new, if rows are on two pages',
      { list: overlapping },
      [1, 2, 3, 4, 1, 2, 3, 4, 'end'],
    ],
  ])('%s', (_what, setup, asked) => {
    expect(read({ goal: 'end', knowledge, ...setup }).asked).toEqual(asked)
  })

  test('is read until all of its rows were seen, if each request shuffles it', () => {
    const { reading, asked } = read({ goal: 'end', knowledge, list: (turn) => shuffled(calls, turn) })
    expect([reading.rows.seen.size, asked.at(-1)]).toEqual([20, 'end'])
  })
})

test.each<[string, SeenCall[], number | undefined]>([
  ['nothing, if new rows are above all known ones', numbered(-3, 30), undefined],
  ['at which row a new one is, from the newest known one on', numbered(1, 30).toSpliced(6, 0, seen('new', 'ended')), 7],
  [
    'the largest number, if there are two',
    numbered(1, 30).toSpliced(9, 0, seen('new 1', 'ended')).toSpliced(4, 0, seen('new 2', 'ended')),
    11,
  ],
])('a reading notes %s', (_what, list, lateBy) => {
  const isNew = ({ id }: { id: string }) => id.startsWith('new') || Number(id.slice(5)) < 1
  expect(read({ list, known: KNOWN, goal: 'end', knowledge: { isNew } }).reading.rows.lateBy).toBe(lateBy)
})

test('a reading notes no call that began before the last sweep: that may have missed it', () => {
  const list = numbered(1, 30).toSpliced(6, 0, { ...ongoing(5), id: 'new' })
  const knowledge = { isNew: ({ id }: { id: string }) => id === 'new', sweptAt: CREATED }
  const { rows } = read({ list, known: KNOWN, goal: 'end', knowledge }).reading
  expect([rows.found, rows.lateBy]).toEqual([1, undefined])
})

test('rows that come in before a page is read again are left to the next reading', () => {
  const { asked, reading } = read({ known: KNOWN, list: (n) => numbered(n < 2 ? -9 : -12, 40) })
  expect(asked).toEqual([1, 2, 1, 'joint'])
  expect(reading.joining.top).toEqual(idsOf(numbered(-9, 10)))
})
