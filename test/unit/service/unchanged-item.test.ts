import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ANSWERED } from '../../../src/ledger/call-fields.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { isUnchanged } from '../../../src/service/unchanged-item.ts'
import { readCall } from '../../../src/service/wire-call.ts'
import { CREATED, ledgerBook, listed } from '../../kit/ledger/seen.ts'
import { runs } from '../../kit/runs.ts'

const BEGAN = CREATED + 10
const NOW = BEGAN + 1000
const participant = (uid: string) => ({
  uid,
  totalAudioMinutes: 0.3,
  totalVideoMinutes: 1.1,
  totalDurationInMinutes: 1.4,
  isJoined: true,
  joinedAt: BEGAN,
  leftAt: BEGAN + 60,
  state: 'ended',
})
/** A final call in the documented form. */
const ITEM: Record<string, unknown> & { participants: object[] } = {
  sessionId: 'v1.a',
  type: 'video',
  mode: 'call',
  receiverType: 'user',
  status: 'ended',
  initiatedAt: BEGAN,
  startedAt: BEGAN + 5,
  endedAt: BEGAN + 65,
  totalAudioMinutes: 0.7,
  totalVideoMinutes: 2.3,
  totalDurationInMinutes: 3,
  totalParticipants: 2,
  hasRecording: false,
  initiator: 'a',
  participants: [participant('a'), participant('b')],
}

/** A final call of which no time shows when it ended. */
const UNENDED: typeof ITEM = {
  ...ITEM,
  endedAt: undefined,
  participants: ['a', 'b'].map((uid) => ({ ...participant(uid), leftAt: undefined })),
}
const FAILED = { ...UNENDED, status: 'rejected', startedAt: undefined }

const read = (item: unknown) => {
  const call = readCall(item, { statusMap: new Map(), now: NOW, onUnknown: () => undefined })
  if (typeof call === 'string') throw new Error(`unusable: ${call}`)
  return call
}

/** A ledger that has seen these items, one after the other. */
function bookOf(...items: unknown[]) {
  const book = ledgerBook({ details: 'never' })
  for (const item of items) book.see({ answers: [listed(BEGAN + 100, read(item))] })
  return book
}
const known = (...items: unknown[]): TrackedCall => bookOf(...items).state.calls.get('v1.a')!

describe('an item of a list', () => {
  test('is unchanged if it is the same as before', () => {
    expect(isUnchanged(ITEM, known(ITEM), NOW)).toBe(true)
    const recorded = { ...ITEM, hasRecording: true }
    expect(isUnchanged(recorded, known(ITEM, recorded), NOW)).toBe(true)
    expect(isUnchanged(FAILED, known(FAILED), NOW)).toBe(true)
  })

  test.each([
    ['when a participant left', { participants: [participant('a'), participant('b')] }],
    ['how long it lasted', { totalDuration: '00:01:00' }],
  ])('is changed if it shows %s, and no answer had shown an end', (_what, fields) => {
    expect(isUnchanged({ ...UNENDED, ...fields }, known(UNENDED), NOW)).toBe(false)
    expect(isUnchanged({ ...ITEM, ...fields }, known(ITEM), NOW)).toBe(true)
  })

  test.each([
    ['status', 'rejected'],
    ['status', ''],
    ['type', 'audio'],
    ['mode', 'meet'],
    ['receiverType', 'group'],
    ['totalAudioMinutes', 0.8],
    ['totalVideoMinutes', '2.3'],
    ['totalDurationInMinutes', -1],
    ['hasRecording', true],
    ['recordings', [{}]],
    ['participants', undefined],
    ['participants', [participant('a')]],
    ['participants', [participant('a'), null]],
    ['participants', [participant('a'), { ...participant('b'), totalVideoMinutes: 1.2 }]],
    ['participants', [participant('a'), { ...participant('b'), totalDuration: -1 }]],
    ['participants', [participant('a'), { ...participant('b'), leftAt: undefined }]],
    ['participants', [participant('a'), { ...participant('b'), leftAt: BEGAN * 1e6 }]],
    ['participants', [participant('a'), { ...participant('b'), joinedAt: 60 }]],
    ['participants', [participant('a'), { ...participant('b'), isJoined: false }]],
    ['participants', [participant('a'), participant('a')]],
    ['initiator', 'c'],
    ['initiator', undefined],
  ])('is changed with another %s: %j', (field, value) => {
    expect(isUnchanged({ ...ITEM, [field]: value }, known(ITEM), NOW)).toBe(false)
  })

  test.each(ANSWERED.filter((name) => name !== 'mid'))('is changed with another %s, or without it', (name) => {
    expect(isUnchanged({ ...ITEM, [name]: Number(ITEM[name]) + 1 }, known(ITEM), NOW)).toBe(false)
    expect(isUnchanged({ ...ITEM, [name]: undefined }, known(ITEM), NOW)).toBe(false)
  })

  test('is changed with a mid that came late, and with another one', () => {
    expect(isUnchanged({ ...ITEM, mid: 'm' }, known(ITEM), NOW)).toBe(false)
    const late = known({ ...ITEM, mid: 'm' })
    expect(['m', 'n'].map((mid) => isUnchanged({ ...ITEM, mid }, late, NOW))).toEqual([true, false])
  })

  test.each([
    ['open', known({ ...ITEM, status: 'ongoing', endedAt: undefined })],
    ['final without a number of participants', known({ ...ITEM, totalParticipants: undefined })],
    ['final without a time', known({ ...ITEM, initiatedAt: null, startedAt: null, endedAt: null })],
  ])('counts as changed if the tracked call is %s', (_what, call) => {
    expect(isUnchanged(ITEM, call, NOW)).toBe(false)
  })

  test('of a baseline call is unchanged as long as it has its times and a final status', () => {
    const old = { ...ITEM, initiatedAt: CREATED - 90, startedAt: CREATED - 80, endedAt: CREATED - 70 }
    expect(known(old).phase).toBe('baseline')
    expect(isUnchanged({ ...old, totalAudioMinutes: 9 }, known(old), NOW)).toBe(true)
    expect(isUnchanged({ ...old, endedAt: CREATED }, known(old), NOW)).toBe(false)
    expect(isUnchanged({ ...old, status: undefined }, known(old), NOW)).toBe(false)
    expect(isUnchanged({ ...old, status: 'ongoing' }, known(old), NOW)).toBe(false)
    expect(isUnchanged({ ...old, status: 'waiting' }, known(old), NOW)).toBe(false)
  })
})

test('an unchanged item would not have changed the ledger', () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, '', 0, -1, Infinity, true, false, 'ended', 'Ended', 'x', [], {}, BEGAN),
    fc.integer({ min: BEGAN - 5, max: BEGAN + 70 }),
    fc.constantFrom(0.7, 2.3, 0.3, 1.1, 3, 2, '2', '00:01:00', (BEGAN + 65) * 1000, NOW + 86_400, NOW + 86_401),
  )
  const change = fc.record({
    field: fc.constantFrom(...Object.keys(ITEM).slice(1, -1), 'recordings', 'totalDuration'),
    value: odd,
  })
  const entry = fc.record({ field: fc.constantFrom(...Object.keys(participant('a')), 'totalDuration'), value: odd })
  const first = fc.constantFrom(ITEM, UNENDED, FAILED)
  let same = 0
  fc.assert(
    fc.property(
      first,
      fc.array(change, { maxLength: 2 }),
      fc.array(entry, { maxLength: 2 }),
      (first, changes, entries) => {
        const changed = Object.fromEntries(entries.map(({ field, value }) => [field, value]))
        const item = {
          ...first,
          ...Object.fromEntries(changes.map(({ field, value }) => [field, value])),
          participants: first.participants.map((one, i) => ({ ...one, ...(i === 1 && changed) })),
        }
        const book = bookOf(first)
        if (!isUnchanged(item, book.state.calls.get('v1.a')!, NOW)) return
        same += 1
        expect(book.see({ answers: [listed(BEGAN + 200, read(item))] })).toBeUndefined()
      },
    ),
    { numRuns: runs(5000) },
  )
  expect(same).toBeGreaterThan(runs(500))
})
