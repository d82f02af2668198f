import { describe, expect, test } from 'vitest'
import { isOrderVerified, isOrderVerifiedRecently, isOrderRefuted } from '../../src/ledger/list-traits.ts'
import { listWarnings } from '../../src/ledger/list-warnings.ts'
import { newLedger, type SyncState, type ListTraits } from '../../src/ledger/state.ts'
import { CREATED } from './seen.ts'

const DAY = 86_400
const NOW = CREATED + 10 * DAY
const list = { order: 'newest first', total: 40, verified: true, pageSize: 4, oldestIds: [] } as const
const warningsOf = (differing: Partial<SyncState>) => listWarnings({ ...newLedger(CREATED).sync, ...differing }, NOW)
const kindsOf = (differing: Partial<SyncState>) => warningsOf(differing).map(({ kind }) => kind)

describe('the warnings of a target', () => {
  const verified: ListTraits = { hidden: 0, orderVerifiedAt: NOW - 30 * DAY }

  test.each<[string, Partial<SyncState>, string[]]>([
    ['absent for a target that was just set up', {}, []],
    ['absent for a list whose order was verified', { list, listTraits: verified }, []],
    ['present for clocks that are more than an hour apart', { clockSkew: 3601 }, ['clock_skew']],
    ['present for a host whose clock is more than an hour ahead', { clockSkew: -3601 }, ['clock_skew']],
    ['absent for clocks that are an hour apart', { clockSkew: 3600 }, []],
    ['present for an order that was never verified', { list }, ['order_unverified']],
    [
      'present for an order that is refuted',
      { list, listTraits: { ...verified, orderRefutedAt: NOW - 60 } },
      ['order_refuted'],
    ],
    [
      'present for an order that is refuted, of an unknown list',
      { listTraits: { hidden: 0, orderRefutedAt: NOW } },
      ['order_refuted'],
    ],
    [
      'present for an order that was not verified since it was refuted more than a day ago',
      { list, listTraits: { ...verified, orderRefutedAt: NOW - DAY } },
      ['order_unverified'],
    ],
    ['present for calls that no page shows', { list, listTraits: { ...verified, hidden: 2 } }, ['hidden_calls']],
    ['present for a capped total', { list, listTraits: { ...verified, cap: 10_000 } }, ['total_capped']],
    [
      'present for all of that together',
      { clockSkew: 1e9, list, listTraits: { hidden: 1, cap: 50 } },
      ['clock_skew', 'order_unverified', 'hidden_calls', 'total_capped'],
    ],
  ])('are %s', (_what, sync, kinds) => {
    expect(kindsOf(sync)).toEqual(kinds)
  })

  test.each<[Partial<SyncState>, string]>([
    [{ clockSkew: 7200 }, "this host's clock is 2 h behind the service's, which callwatch uses"],
    [{ clockSkew: -36_000 }, "this host's clock is 10 h ahead of the service's, which callwatch uses"],
    [{ listTraits: { hidden: 1 } }, "the service's total counts 1 call that no page shows"],
    [{ listTraits: { hidden: 7 } }, "the service's total counts 7 calls that no page shows"],
    [{ listTraits: { hidden: 0, cap: 10_000 } }, "the service's total stops at 10000"],
  ])('contain their figures: %j', (sync, message) => {
    expect(warningsOf(sync).map((warning) => warning.message.slice(0, message.length))).toEqual([message])
  })
})

test.each<[string, Partial<ListTraits>, { refuted: boolean; verified: boolean; recently: boolean }]>([
  [
    'of a list that was never read to its end is not verified',
    {},
    { refuted: false, verified: false, recently: false },
  ],
  [
    'that was verified just now is verified',
    { orderVerifiedAt: NOW },
    { refuted: false, verified: true, recently: true },
  ],
  [
    'that was verified a day ago is not recently verified',
    { orderVerifiedAt: NOW - DAY },
    { refuted: false, verified: true, recently: false },
  ],
  [
    'that was refuted after it was verified is refuted',
    { orderVerifiedAt: NOW - 20, orderRefutedAt: NOW - 10 },
    { refuted: true, verified: false, recently: false },
  ],
  [
    'that was refuted a day ago, and not verified since, is neither',
    { orderVerifiedAt: NOW - 2 * DAY, orderRefutedAt: NOW - DAY },
    { refuted: false, verified: false, recently: false },
  ],
  [
    'that was verified after it was refuted is verified',
    { orderVerifiedAt: NOW - 10, orderRefutedAt: NOW - DAY },
    { refuted: false, verified: true, recently: true },
  ],
])('an order %s', (_what, differing, { refuted, verified, recently }) => {
  const traits = { hidden: 0, ...differing }
  expect({
    refuted: isOrderRefuted(traits, NOW),
    verified: isOrderVerified(traits),
    recently: isOrderVerifiedRecently(traits, { now: NOW, horizon: NOW - 10 * DAY }),
  }).toEqual({ refuted, verified, recently })
})

test.each([
  ['a day', 10 * DAY, DAY - 1, true],
  ['a day', 10 * DAY, DAY, false],
  ['half the time to the horizon, if that is shorter', 1200, 599, true],
  ['half the time to the horizon, if that is shorter', 1200, 600, false],
])('an order stays recently verified for %s (horizon %i s, age %i s)', (_what, read, age, holds) => {
  const traits = { hidden: 0, orderVerifiedAt: NOW - age }
  expect(isOrderVerifiedRecently(traits, { now: NOW, horizon: NOW - read })).toBe(holds)
})
