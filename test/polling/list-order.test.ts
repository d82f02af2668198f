import { describe, expect, test } from 'vitest'
import { evidenceOf, learnOrder, NO_EVIDENCE, provenOrder } from '../../src/polling/list-order.ts'
import { CREATED, seen } from '../ledger/seen.ts'

const page = (...seconds: number[]) => seconds.map((n) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED + n }))
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

describe('the order of a list', () => {
  test.each([
    ['newest first', page(...upTo(10).toReversed())],
    ['oldest first', page(...upTo(10))],
    ['unknown', page(...upTo(9))],
    ['unknown', page(5, 1, 4, 2, 9, 3, 8, 0, 7, 6, 11, 10)],
    ['unknown', page(...Array.from({ length: 50 }, () => 7))],
  ] as const)('is %s', (order, calls) => {
    expect(provenOrder(learnOrder(NO_EVIDENCE, calls))).toBe(order)
  })

  test('is learned over several short pages', () => {
    const evidence = [page(9, 8, 7, 6), page(5, 4, 3), page(2, 1, 0), page(-1, -2, -3)].reduce(learnOrder, NO_EVIDENCE)
    expect(provenOrder(evidence)).toBe('newest first')
  })

  test('is not lost by one call with a wrong date, nor by a short page without any order', () => {
    const known = evidenceOf('newest first')
    expect(provenOrder(learnOrder(known, page(...upTo(10).toReversed(), 99, ...upTo(10).map((n) => -n))))).toBe(
      'newest first',
    )
    const longKnown = learnOrder(known, page(...upTo(40).toReversed()))
    expect(provenOrder(learnOrder(longKnown, page(1, 3, 2)))).toBe('newest first')
  })

  test('is lost at once by a page that is shuffled, and turned by one that goes the other way', () => {
    const known = learnOrder(NO_EVIDENCE, page(...upTo(400).toReversed()))
    expect(provenOrder(learnOrder(known, page(5, 1, 4, 2, 9, 3, 8, 0, 7, 6, 11, 10)))).toBe('unknown')
    expect(provenOrder(learnOrder(known, page(...upTo(10))))).toBe('oldest first')
  })
})
