import { describe, expect, test } from 'vitest'
import { isOrderVerified, isOrderVerifiedRecently, isOrderRefuted } from '../../src/ledger/list-facts.ts'
import { listWarnings } from '../../src/ledger/list-warnings.ts'
import { newLedger, type SyncState, type ListFacts } from '../../src/ledger/state.ts'
import { CREATED } from './seen.ts'

const DAY = 86_400
const NOW = CREATED + 10 * DAY
const list = { order: 'newest first', total: 40, verified: true, pageSize: 4, end: [] } as const
const warningsOf = (differing: Partial<SyncState>) => listWarnings({ ...newLedger(CREATED).sync, ...differing }, NOW)
const kindsOf = (differing: Partial<SyncState>) => warningsOf(differing).map(({ kind }) => kind)

describe('what a user is warned of', () => {
  const proven: ListFacts = { hidden: 0, orderVerifiedAt: NOW - 30 * DAY }

  test.each<[string, Partial<SyncState>, string[]]>([
    ['nothing, of a target that was just set up', {}, []],
    ['nothing, of a list whose order was proven once', { list, listing: proven }, []],
    ['clocks that are more than an hour apart', { clockSkew: 3601 }, ['clock_skew']],
    ['a host whose clock is more than an hour ahead', { clockSkew: -3601 }, ['clock_skew']],
    ['nothing, of clocks that are an hour apart', { clockSkew: 3600 }, []],
    ['an order that was never proven', { list }, ['order_unproven']],
    ['an order that is refuted', { list, listing: { ...proven, orderRefutedAt: NOW - 60 } }, ['order_refuted']],
    [
      'an order that is refuted, where no list is known',
      { listing: { hidden: 0, orderRefutedAt: NOW } },
      ['order_refuted'],
    ],
    [
      'an order that is unproven since it was refuted more than a day ago',
      { list, listing: { ...proven, orderRefutedAt: NOW - DAY } },
      ['order_unproven'],
    ],
    ['calls that no page shows', { list, listing: { ...proven, hidden: 2 } }, ['hidden_calls']],
    ['a total that has stopped counting', { list, listing: { ...proven, cap: 10_000 } }, ['total_capped']],
    [
      'all of that at once',
      { clockSkew: 1e9, list, listing: { hidden: 1, cap: 50 } },
      ['clock_skew', 'order_unproven', 'hidden_calls', 'total_capped'],
    ],
  ])('is %s', (_what, sync, kinds) => {
    expect(kindsOf(sync)).toEqual(kinds)
  })

  test.each<[Partial<SyncState>, string]>([
    [{ clockSkew: 7200 }, "this host's clock is 2 h behind the service's, which callwatch uses"],
    [{ clockSkew: -36_000 }, "this host's clock is 10 h ahead of the service's, which callwatch uses"],
    [{ listing: { hidden: 1 } }, "the service's total counts 1 call that no page shows"],
    [{ listing: { hidden: 7 } }, "the service's total counts 7 calls that no page shows"],
    [{ listing: { hidden: 0, cap: 10_000 } }, "the service's total stops at 10000"],
  ])('is told with its figures: %j', (sync, message) => {
    expect(warningsOf(sync).map((warning) => warning.message.slice(0, message.length))).toEqual([message])
  })
})

test.each<[string, Partial<ListFacts>, { refuted: boolean; proven: boolean; lately: boolean }]>([
  ['was never read to its end', {}, { refuted: false, proven: false, lately: false }],
  ['was proven just now', { orderVerifiedAt: NOW }, { refuted: false, proven: true, lately: true }],
  ['was proven a day ago', { orderVerifiedAt: NOW - DAY }, { refuted: false, proven: true, lately: false }],
  [
    'was refuted after it was proven',
    { orderVerifiedAt: NOW - 20, orderRefutedAt: NOW - 10 },
    { refuted: true, proven: false, lately: false },
  ],
  [
    'was refuted a day ago, and not proven since',
    { orderVerifiedAt: NOW - 2 * DAY, orderRefutedAt: NOW - DAY },
    { refuted: false, proven: false, lately: false },
  ],
  [
    'was proven after it was refuted',
    { orderVerifiedAt: NOW - 10, orderRefutedAt: NOW - DAY },
    { refuted: false, proven: true, lately: true },
  ],
])('an order that %s', (_what, differing, { refuted, proven, lately }) => {
  const facts = { hidden: 0, ...differing }
  expect({
    refuted: isOrderRefuted(facts, NOW),
    proven: isOrderVerified(facts),
    lately: isOrderVerifiedRecently(facts, { now: NOW, horizon: NOW - 10 * DAY }),
  }).toEqual({ refuted, proven, lately })
})

test.each([
  ['a day', 10 * DAY, DAY - 1, true],
  ['a day', 10 * DAY, DAY, false],
  ['half of what is read, where that is shorter', 1200, 599, true],
  ['half of what is read, where that is shorter', 1200, 600, false],
])('a proof holds for %s (%i s, after %i s)', (_what, read, age, holds) => {
  const facts = { hidden: 0, orderVerifiedAt: NOW - age }
  expect(isOrderVerifiedRecently(facts, { now: NOW, horizon: NOW - read })).toBe(holds)
})
