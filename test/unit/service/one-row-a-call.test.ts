import { expect, test } from 'vitest'
import { oneRowACall } from '../../../src/service/one-row-a-call.ts'
import { completePoll, CREATED, ledgerBook, listed, seen, total } from '../../kit/ledger/seen.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'

const minutes = (audio: number) => ({ callMinutes: { audio, video: undefined, total: undefined } })
const over = (audio: number) => seen('a', 'ended', { endedAt: CREATED + 5, ...minutes(audio) })
const ongoing = seen('a', 'ongoing', minutes(9))

test.each([
  ['the later state', [over(3), ongoing], [over(3)]],
  ['the later state, wherever it stands', [ongoing, over(3)], [over(3)]],
  ['that it was answered', [seen('a', 'initiated'), ongoing], [ongoing]],
  ['the larger minutes of one state', [over(3), over(5), over(4)], [over(5)]],
  ['the first of two that are equal', [over(3), { ...over(3), joined: 2 }], [over(3)]],
])('of two rows that are one call, %s counts', (_what, rows, expected) => {
  expect(oneRowACall([...rows, seen('b', 'ongoing')])).toEqual([...expected, seen('b', 'ongoing')])
})

test('rows of other calls stay as they are', () => {
  const rows = [seen('a', 'ongoing'), seen('b', 'ongoing')]
  expect(oneRowACall(rows)).toBe(rows)
})

test('two rows with different minutes are counted once, however often both are listed', () => {
  const book = ledgerBook({ details: 'never' })
  book.see(completePoll(10, ...oneRowACall([over(5), over(3)])))
  for (let poll = 0; poll < 5; poll++) {
    const known = book.state.calls.get('a')!
    book.see({ answers: [{ ...listed(CREATED + 20), calls: oneRowACall([known, over(3)]) }] })
  }
  expect([total(book.state, COUNTERS.callMinutes), total(book.state, COUNTERS.corrections)]).toEqual([5, 0])
})
