import { expect, test } from 'vitest'
import { shownOpen } from '../../../src/polling/shown-open.ts'
import { CREATED, ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'

const at = (seconds: number) => CREATED + seconds
const began = { initiatedAt: at(0) }
const open = () => seen('a', 'initiated', began)
const rejected = () => seen('a', 'rejected', began)

/** When the call was last shown open, as a final row says that is shown then. */
function until(memory: ReturnType<typeof shownOpen>): number | undefined {
  const row = rejected()
  memory.note([row], at(9000))
  return row.openUntil
}

test('a final row has when the call was last shown open', () => {
  const memory = shownOpen()
  expect(until(memory)).toBeUndefined()
  memory.note([open()], at(10))
  memory.note([open(), seen('b', 'ongoing')], at(20))
  expect(until(memory)).toBe(at(20))
})

test.each([
  ['before', () => [open(), rejected()]],
  ['after', () => [rejected(), open()]],
])('an outdated row of an answer %s the final one of the call says nothing', (_where, rowsOf) => {
  const memory = shownOpen()
  memory.note([open()], at(10))
  const rows = rowsOf()
  memory.note(rows, at(8000))
  expect(rows.find(({ status }) => status === 'rejected')!.openUntil).toBe(at(10))
  expect(until(memory)).toBe(at(10))
})

test('a call is forgotten once it has finished, and not while it is lost', () => {
  const memory = shownOpen()
  const book = ledgerBook()
  const poll = (seconds: number, ...calls: ReturnType<typeof open>[]) => {
    memory.startPoll(book.state)
    memory.note(calls, at(seconds))
    book.see({ answers: [listed(at(seconds), ...calls)] })
  }
  poll(10, open())
  for (const seconds of [20, 30]) book.see({ answers: [{ ...listed(at(seconds)), source: 'get', notFound: ['a'] }] })
  expect(book.state.calls.get('a')!.phase).toBe('lost')
  poll(40)
  expect(until(memory)).toBe(at(10))
  poll(50, rejected())
  expect(book.state.calls.get('a')!.finish!.at).toBe(at(10))
  poll(60)
  expect(until(memory)).toBeUndefined()
})
