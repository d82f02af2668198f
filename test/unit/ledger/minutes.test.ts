import { expect, test } from 'vitest'
import type { CallType } from '../../../src/ledger/call.ts'
import { minutesAfter, servedMinutes } from '../../../src/ledger/delta/minutes.ts'
import { seen } from '../../kit/ledger/seen.ts'

test.each([
  { what: 'increase while it is open', counted: 1, served: 1.5, final: false, after: 1.5 },
  { what: 'do not decrease while it is open', counted: 2, served: 1, final: false, after: 2 },
  { what: 'increase after its end', counted: 2, served: 2.25, final: true, after: 2.25 },
  { what: 'are corrected after its end', counted: 2, served: 0.5, final: true, after: 0.5 },
  { what: 'stay if an answer has none', counted: 2, served: undefined, final: true, after: 2 },
])('minutes of a call $what', ({ counted, served, final, after }) => {
  expect(minutesAfter(counted, served, final)).toBe(after)
})

test.each<{
  what: string
  type: CallType
  final: boolean
  call: (number | undefined)[]
  served: (number | undefined)[]
}>([
  { what: 'both media', type: 'audio', final: false, call: [1, 2], served: [1, 2] },
  {
    what: 'the total of a final video call',
    type: 'video',
    final: true,
    call: [undefined, undefined, 3],
    served: [undefined, 3],
  },
  {
    what: 'the total of another final call',
    type: 'other',
    final: true,
    call: [undefined, undefined, 3],
    served: [3, undefined],
  },
  {
    what: 'the total of an open call',
    type: 'video',
    final: false,
    call: [undefined, undefined, 3],
    served: [undefined, undefined],
  },
])('call-level minutes of $what are $served', ({ type, final, call: [audio, video, total], served }) => {
  const call = seen('a', 'ongoing', { callMinutes: { audio, video, total } })
  expect(servedMinutes(call, type, final).slice(0, 2)).toEqual(served)
})

test('participant-level minutes without a medium count as those of the type, open or final', () => {
  const call = seen('a', 'ongoing', { participantMinutes: { audio: 1, video: 2, total: 4 } })
  expect(servedMinutes(call, 'video', false).slice(2)).toEqual([1, 6])
  expect(servedMinutes(call, 'audio', true).slice(2)).toEqual([5, 2])
})
