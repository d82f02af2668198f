import { describe, expect, test } from 'vitest'
import { ANSWERED } from '../../../src/ledger/call-fields.ts'
import type { AnsweredValues } from '../../../src/ledger/call.ts'
import { RECORD_BYTES } from '../../../src/ledger/tracked-calls.ts'
import { CREATED, ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'

/** All of them, and a value of each. */
const VALUES: Record<keyof AnsweredValues, number> = {
  initiatedAt: CREATED + 10,
  startedAt: CREATED + 15,
  endedAt: CREATED + 70,
  totalParticipants: 3,
  mid: 5,
}

test('a call has 172 bytes in memory beside its id (ADR 9)', () => expect(RECORD_BYTES).toBe(172))

test('the table of the fields names every value that a call takes from an answer as it is', () => {
  expect(ANSWERED.toSorted()).toEqual(Object.keys(VALUES).toSorted())
})

describe.each(ANSWERED)('the %s of a call', (name) => {
  const answer = (more: Partial<AnsweredValues>) => listed(CREATED + 100, seen('a', 'ended', more))
  const book = () => {
    const ledger = ledgerBook()
    ledger.see({ answers: [answer(VALUES)] })
    return ledger
  }

  test('is what the first answer says', () => {
    expect(book().state.calls.get('a')).toMatchObject(VALUES)
  })

  // With another `mid` it is another call; it gets one when somebody joins.
  const before = name === 'mid' ? undefined : VALUES[name] - 1
  test('is what the latest answer says that has it, and such an answer changes the call', () => {
    const ledger = ledgerBook()
    ledger.see({ answers: [answer({ ...VALUES, [name]: before })] })
    expect(ledger.see({ answers: [answer(VALUES)] })?.calls.get('a')).toMatchObject(VALUES)
    expect(ledger.state.calls.get('a')).toMatchObject(VALUES)
  })

  test('stays if an answer omits it, and such an answer changes nothing', () => {
    const ledger = book()
    expect(ledger.see({ answers: [answer({ ...VALUES, [name]: undefined })] })).toBeUndefined()
    expect(ledger.state.calls.get('a')).toMatchObject(VALUES)
  })
})
