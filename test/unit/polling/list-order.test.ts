import { describe, expect, test } from 'vitest'
import { EVIDENCE_OF, addToEvidence, NO_EVIDENCE, knownOrder } from '../../../src/polling/list/list-order.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'

const page = (...seconds: number[]) => seconds.map((n) => seen(`call ${n}`, 'ended', { initiatedAt: CREATED + n }))
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

describe('the order of a list', () => {
  test.each([
    ['newest first', 'after ten falling times', page(...upTo(10).toReversed())],
    ['oldest first', 'after ten rising times', page(...upTo(10))],
    ['unknown', 'after nine calls', page(...upTo(9))],
    ['unknown', 'after a shuffled page', page(5, 1, 4, 2, 9, 3, 8, 0, 7, 6, 11, 10)],
    [
      'newest first',
      'after busy seconds with a wrong date each',
      page(...upTo(10).flatMap((n) => [-n, -n, 9000 + n, -n])),
    ],
    [
      'newest first',
      'after busy seconds with a wrong date between some of them',
      page(...upTo(10).flatMap((n) => [-n, -n, -n, -n, ...(n % 3 === 0 ? [9000 + n] : [])])),
    ],
    [
      'unknown',
      'after one busy second with other calls in any order amid it',
      page(...[9, 3, 12, 1, 5, 14, 2].flatMap((n) => [...upTo(10).map(() => 7), n, n])),
    ],
    [
      'unknown',
      'after groups with a busy second each',
      page(...upTo(6).flatMap((n) => [...upTo(6).map(() => 7), 5 - n, 4 - n, 3 - n])),
    ],
    [
      'unknown',
      'after one busy second with pairs of older calls amid it',
      page(...upTo(3).flatMap((n) => [7, 7, 7, 5 - n, 2 - n, 7])),
    ],
    ['unknown', 'after calls with the same time', page(...Array.from({ length: 50 }, () => 7))],
  ] as const)('is %s %s', (order, _when, calls) => {
    expect(knownOrder(addToEvidence(NO_EVIDENCE, calls))).toBe(order)
  })

  test('is learned over several short pages', () => {
    const evidence = [page(9, 8, 7, 6), page(5, 4, 3), page(2, 1, 0), page(-1, -2, -3)].reduce(
      addToEvidence,
      NO_EVIDENCE,
    )
    expect(knownOrder(evidence)).toBe('newest first')
  })

  test('is not lost with one wrong date, nor with a short page without any order', () => {
    const known = EVIDENCE_OF.first
    expect(knownOrder(addToEvidence(known, page(...upTo(10).toReversed(), 99, ...upTo(10).map((n) => -n))))).toBe(
      'newest first',
    )
    const longKnown = addToEvidence(known, page(...upTo(40).toReversed()))
    expect(knownOrder(addToEvidence(longKnown, page(1, 3, 2)))).toBe('newest first')
  })

  test('is lost at once with a shuffled page, and changes with a page in the other order', () => {
    const known = addToEvidence(NO_EVIDENCE, page(...upTo(400).toReversed()))
    expect(knownOrder(addToEvidence(known, page(5, 1, 4, 2, 9, 3, 8, 0, 7, 6, 11, 10)))).toBe('unknown')
    expect(knownOrder(addToEvidence(known, page(...upTo(10))))).toBe('oldest first')
  })
})
