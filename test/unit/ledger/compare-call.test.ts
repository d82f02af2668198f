import { describe, expect, test } from 'vitest'
import { compareCall, isMissed, lastMinutes } from '../../../src/ledger/delta/compare-call.ts'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { applyDelta, newLedger, type LedgerState } from '../../../src/ledger/state.ts'
import { computeDelta, type LedgerOptions } from '../../../src/ledger/delta/compute-delta.ts'
import { CREATED, listed, seen } from '../../kit/ledger/seen.ts'

const OPTIONS: LedgerOptions = { lookback: 1000, baseline: 'skip', details: 'never' }
const AFTER = CREATED + 60
const minutes = (audio: number, video = 0) => ({ audio, video, total: undefined })

/** A ledger after a call was listed like this, in one answer after the other. */
function after(...answers: SeenCall[]): LedgerState {
  const ledger = newLedger(CREATED)
  for (const [i, answer] of answers.entries()) {
    const delta = computeDelta(ledger, { answers: [listed(AFTER + i, answer)] }, OPTIONS)
    if (delta !== undefined) applyDelta(ledger, { ...delta, sync: { ...delta.sync, seq: ledger.sync.seq + 1 } }, 1000)
  }
  return ledger
}

const compare = (ledger: LedgerState, served: SeenCall) =>
  compareCall(ledger.calls.get(served.id), served, ledger.sync, OPTIONS)

const over = seen('c', 'ended', { endedAt: AFTER, callMinutes: minutes(2, 1), participantMinutes: minutes(4, 2) })

describe('the verdict on a finished call', () => {
  test('is equal if the call is served as it was counted', () => {
    expect(compare(after(over), over)).toEqual({ kind: 'equal' })
    expect(compare(after(seen('c', 'ongoing'), over), over)).toEqual({ kind: 'equal' })
  })

  test('is equal whatever an answer leaves out, and however sums are rounded', () => {
    const bare = seen('c', 'ended', { type: undefined, mode: undefined, receiverType: undefined })
    expect(compare(after(over), bare)).toEqual({ kind: 'equal' })
    expect(lastMinutes(after(over).calls.get('c'), bare)).toEqual([2, 1, 4, 2])
    expect(compare(after(over), { ...over, callMinutes: minutes(2 + 1e-12, 1) })).toEqual({ kind: 'equal' })
  })

  test.each([
    ['another status', { status: 'rejected' as const }, { what: 'status', counted: 'ended', served: 'rejected' }],
    ['an open status', { status: 'ongoing' as const }, { what: 'status', counted: 'ended', served: 'ongoing' }],
    [
      'another label',
      { type: 'video' as const },
      { what: 'labels', counted: 'audio call user', served: 'video call user' },
    ],
    ['more minutes', { callMinutes: minutes(3, 1) }, { what: 'call audio minutes', counted: 2, served: 3 }],
    [
      'fewer minutes',
      { participantMinutes: minutes(4, 0) },
      { what: 'participant video minutes', counted: 2, served: 0 },
    ],
  ])('is a difference for %s', (_what, change, discrepancy) => {
    expect(compare(after(over), { ...over, ...change })).toEqual({ kind: 'difference', discrepancies: [discrepancy] })
  })

  test('does not depend on when it began', () => {
    const again = { ...over, startedAt: AFTER - 10 }
    const earlier = { ...over, startedAt: AFTER - 40, endedAt: AFTER - 20 }
    expect(compare(after(again), earlier)).toEqual({ kind: 'equal' })
    expect(compare(after(again), { ...earlier, callMinutes: minutes(9) })).toMatchObject({ kind: 'difference' })
  })

  test('is a note if the ledger counted the change of status or labels as an anomaly', () => {
    const changed = { ...over, status: 'rejected' as const, type: 'video' as const }
    expect(compare(after(over, changed), changed)).toEqual({
      kind: 'note',
      discrepancies: [
        { what: 'status', counted: 'ended', served: 'rejected', known: 'final_changed' },
        { what: 'labels', counted: 'audio call user', served: 'video call user', known: 'labels_changed' },
      ],
    })
    const more = { ...changed, callMinutes: minutes(9, 1) }
    expect(compare(after(over, changed), more)).toMatchObject({ kind: 'difference', discrepancies: [{}, {}, {}] })
  })
})

describe('the verdict on an open call', () => {
  test('is open, whatever the minutes are', () => {
    const open = seen('c', 'ongoing', { callMinutes: minutes(1) })
    expect(compare(after(open), { ...open, callMinutes: minutes(7) })).toEqual({ kind: 'open' })
  })

  test('is a difference if the call is served as final', () => {
    const discrepancies = [{ what: 'status', counted: 'ongoing', served: 'ended' }]
    expect(compare(after(seen('c', 'ongoing')), over)).toEqual({ kind: 'difference', discrepancies })
  })
})

describe('the verdict on an unknown call', () => {
  const ledger = after()
  test.each([
    ['new if it is open', seen('c', 'ongoing', { initiatedAt: CREATED - 5000 }), 'new'],
    ['a difference if it is final', over, 'difference'],
    ['ignored if it was final before the horizon', { ...over, endedAt: CREATED - 1001 }, 'ignored'],
    ['baseline if it was final before the set-up', { ...over, endedAt: CREATED - 1 }, 'baseline'],
    ['baseline if it has no time and no sweep was complete yet', { ...over, endedAt: undefined }, 'baseline'],
  ])('is %s', (_what, served, kind) => {
    expect(compare(ledger, served)).toMatchObject({ kind })
  })

  test('is a difference before the set-up too, where calls are counted from an earlier time', () => {
    const served = { ...over, endedAt: CREATED - 1 }
    const verdict = compareCall(
      undefined,
      served,
      { ...ledger.sync, past: { from: CREATED - 1, readAt: CREATED } },
      OPTIONS,
    )
    expect(verdict).toMatchObject({ kind: 'difference', discrepancies: [{ what: 'call', served: 'ended' }] })
  })
})

test.each([
  ['that ended after the set-up', undefined, 1, 0, true],
  ['that ended before the set-up', undefined, -1, 0, false],
  ['that ended after the time from which calls are counted', -1000, -1000, -2000, true],
  ['that ended before that time', -1000, -1001, -2000, false],
  ['whose row has expired', undefined, 100, 100, false],
] as const)('a call before the horizon %s is missed or not', (_what, from, endedAt, expired, missed) => {
  const sync = { ...after().sync, ...(from && { past: { from: CREATED + from, readAt: CREATED } }) }
  const served = { ...over, endedAt: CREATED + endedAt }
  expect(isMissed(served, sync, CREATED + expired)).toBe(missed)
})

test('the verdict on a baseline call is baseline, however the call is served', () => {
  const old = { ...over, endedAt: CREATED - 1 }
  expect(compare(after(old), { ...old, status: 'rejected', callMinutes: minutes(9) })).toEqual({ kind: 'baseline' })
})

test('the verdict on a lost call is lost while the call is open, and a difference once it is final', () => {
  const ledger = after(seen('c', 'ongoing'))
  const lost = { ...ledger.calls.get('c')!, phase: 'lost' as const }
  expect(compareCall(lost, seen('c', 'ongoing'), ledger.sync, OPTIONS)).toEqual({ kind: 'lost' })
  expect(compareCall(lost, over, ledger.sync, OPTIONS)).toMatchObject({
    discrepancies: [{ what: 'status', counted: 'lost', served: 'ended' }],
  })
})
