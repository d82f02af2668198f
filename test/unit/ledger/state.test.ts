import { expect, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { computeDelta } from '../../../src/ledger/delta/compute-delta.ts'
import { completePoll, contents, ledgerBook, seen } from '../../kit/ledger/seen.ts'

test('a delta is applied once, to the state from which it was computed', () => {
  const { state } = ledgerBook()
  const delta = computeDelta(state, completePoll(1, seen('a', 'ongoing')), {
    lookback: 100,
    baseline: 'skip',
    details: 'never',
  })!
  applyDelta(state, delta, 100)
  expect(() => applyDelta(state, delta, 100)).toThrow('delta 1 does not follow state 1')
  expect(state.open.size).toBe(1)
})

test('computing a delta does not change the state', () => {
  const book = ledgerBook()
  book.see(completePoll(1, seen('a', 'ongoing')))
  const before = structuredClone(contents(book.state))
  computeDelta(book.state, completePoll(2, seen('a', 'ended'), seen('b', 'ongoing')), {
    lookback: 100,
    baseline: 'skip',
    details: 'never',
  })
  expect(contents(book.state)).toEqual(before)
})
