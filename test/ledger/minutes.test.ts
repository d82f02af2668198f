import { expect, test } from 'vitest'
import type { CallType } from '../../src/ledger/call.ts'
import { countMinutes, servedMinutes } from '../../src/ledger/minutes.ts'
import { seen } from './seen.ts'

test.each([
  {
    what: 'an open call grows',
    counted: 1,
    served: 1.5,
    final: false,
    result: { counted: 1.5, add: 0.5, correction: 0 },
  },
  {
    what: 'an open call that shrinks is not believed',
    counted: 2,
    served: 1,
    final: false,
    result: { counted: 2, add: 0, correction: 0 },
  },
  {
    what: 'a final call that was raised adds',
    counted: 2,
    served: 2.25,
    final: true,
    result: { counted: 2.25, add: 0.25, correction: 0 },
  },
  {
    what: 'a final call that was lowered is a correction',
    counted: 2,
    served: 0.5,
    final: true,
    result: { counted: 0.5, add: 0, correction: 1.5 },
  },
  {
    what: 'a value that is missing changes nothing',
    counted: 2,
    served: undefined,
    final: true,
    result: { counted: 2, add: 0, correction: 0 },
  },
])('$what', ({ counted, served, final, result }) => {
  expect(countMinutes(counted, served, final)).toEqual(result)
})

test.each<{
  what: string
  type: CallType
  final: boolean
  call: (number | undefined)[]
  served: (number | undefined)[]
}>([
  { what: 'the two media are taken as they are', type: 'audio', final: false, call: [1, 2], served: [1, 2] },
  {
    what: 'a total of a video call that is over is video',
    type: 'video',
    final: true,
    call: [undefined, undefined, 3],
    served: [undefined, 3],
  },
  {
    what: 'a total of any other call that is over is audio',
    type: 'other',
    final: true,
    call: [undefined, undefined, 3],
    served: [3, undefined],
  },
  {
    what: 'a total of an open call says nothing yet',
    type: 'video',
    final: false,
    call: [undefined, undefined, 3],
    served: [undefined, undefined],
  },
])('call level: $what', ({ type, final, call: [audio, video, total], served }) => {
  const call = seen('a', 'ongoing', { callMinutes: { audio, video, total } })
  expect(servedMinutes(call, type, final).slice(0, 2)).toEqual(served)
})

test('participant level: entries with a total alone go to the medium of the type, open or over', () => {
  const call = seen('a', 'ongoing', { participantMinutes: { audio: 1, video: 2, total: 4 } })
  expect(servedMinutes(call, 'video', false).slice(2)).toEqual([1, 6])
  expect(servedMinutes(call, 'audio', true).slice(2)).toEqual([5, 2])
})
