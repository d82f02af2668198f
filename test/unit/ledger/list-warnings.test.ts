import { describe, expect, test } from 'vitest'
import { listWarnings } from '../../../src/ledger/list-warnings.ts'
import { newLedger, type SyncState } from '../../../src/ledger/state.ts'
import { CREATED, KNOWN_LIST } from '../../kit/ledger/seen.ts'

const DAY = 86_400
const NOW = CREATED + 10 * DAY
const list = KNOWN_LIST
const swept = { lastSweepBegan: NOW - 60 }
const byTime = { isByTime: true, at: NOW - 30 * DAY }
const notByTime = { isByTime: false, at: NOW - 30 * DAY }
const elsewhere = (at: number) => ({ ...list, order: byTime, elsewhere: { readings: 2, at } })
const warningsOf = (differing: Partial<SyncState>) => listWarnings({ ...newLedger(CREATED).sync, ...differing }, NOW)

describe('the warnings of a target', () => {
  test.each<[string, Partial<SyncState>, string[]]>([
    ['absent for a target that was just set up', {}, []],
    ['absent for a list that was swept', { ...swept, list: { ...list, order: byTime } }, []],
    ['absent for a list whose order is unknown, since it is short', { ...swept, list }, []],
    ['present for clocks that are more than an hour apart', { clockSkew: 3601 }, ['clock_skew']],
    ['present for a host whose clock is more than an hour ahead', { clockSkew: -3601 }, ['clock_skew']],
    ['absent for clocks that are an hour apart', { clockSkew: 3600 }, []],
    ['present for a list that was never swept', { list }, ['order_unverified']],
    ['present for a list out of order of time', { ...swept, list: { ...list, order: notByTime } }, ['order_refuted']],
    ['present for calls that come in anywhere', { ...swept, list: elsewhere(NOW - 60) }, ['order_refuted']],
    ['absent a day after the last one did', { ...swept, list: elsewhere(NOW - DAY) }, []],
    ['only one of the order', { list: elsewhere(NOW - 60) }, ['order_refuted']],
    ['present for all of that together', { clockSkew: 1e9, list }, ['clock_skew', 'order_unverified']],
  ])('are %s', (_what, sync, kinds) => {
    expect(warningsOf(sync).map(({ kind }) => kind)).toEqual(kinds)
  })

  test.each<[Partial<SyncState>, string]>([
    [{ clockSkew: 7200 }, "this host's clock is 2 h behind the service's, which callwatch uses"],
    [{ clockSkew: -36_000 }, "this host's clock is 10 h ahead of the service's, which callwatch uses"],
    [{ list }, 'the list was not read to its end yet: until then, finished calls stay in memory'],
    [{ list: elsewhere(NOW) }, 'calls come in anywhere in the list: each poll reads it to its end'],
    [{ list: { ...list, order: notByTime } }, 'the list is not in order of time: a sweep reads it to its end'],
  ])('say what polls do about it: %j', (sync, message) => {
    expect(warningsOf(sync).map((warning) => warning.message.slice(0, message.length))).toEqual([message])
  })
})
