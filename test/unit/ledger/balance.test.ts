import { describe, expect, test } from 'vitest'
import { countedAmounts, imbalancesOf, sumOfAmounts, type Amounts } from '../../../src/ledger/balance.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'

const balance = (counters: Amounts, rows: Amounts, deletedTotals: Amounts) =>
  imbalancesOf({ counters, rows, deletedTotals })

describe('the counters of a ledger', () => {
  test('equal the sums of its calls, without baseline calls', () => {
    const book = ledgerBook()
    const minutes = { callMinutes: { audio: 0.1, video: 0.7, total: undefined } }
    const video = { type: 'video', receiverType: 'group', endedAt: CREATED + 2 } as const
    book.see(
      completePoll(
        3,
        seen('a', 'ongoing', { initiatedAt: CREATED + 1, ...minutes }),
        seen('b', 'ended', { ...video, ...minutes }),
        seen('c', 'rejected', { endedAt: CREATED + 2 }),
        seen('d', 'ended', { endedAt: CREATED - 9, ...minutes }),
      ),
    )
    book.see(completePoll(4, seen('b', 'ended', { ...video, callMinutes: { ...minutes.callMinutes, video: 0.2 } })))
    const amounts = sumOfAmounts(book.state.calls.values())
    expect(amounts).toEqual([3, 2, expect.closeTo(0.2, 12), expect.closeTo(0.9, 12), 0, 0])
    expect(balance(countedAmounts(book.state.counters), amounts, [0, 0, 0, 0, 0, 0])).toEqual([])
  })
})

describe('a difference between counters and calls', () => {
  test('is reported with its quantity and both amounts', () => {
    expect(balance([4, 1, 0, 0, 0, 3.5], [1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 0, 2])).toEqual([
      { quantity: 'started', counters: 4, calls: 2 },
      { quantity: 'participant video minutes', counters: 3.5, calls: 3 },
    ])
  })

  test('is not reported for the rounding of floats', () => {
    const rows: Amounts = [0, 0, 0.1 + 0.2 + 0.3, 1e9 + 1e-3, 0, 0]
    expect(balance([0, 0, 0.3 + 0.2 + 0.1, 1e9, 0, 0], rows, [0, 0, 0, 0, 0, 0])).toEqual([])
    expect(balance([0, 0, 0.6 + 1e-8, 1e9 + 2, 0, 0], rows, [0, 0, 0, 0, 0, 0])).toHaveLength(2)
  })
})
