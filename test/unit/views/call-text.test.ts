import { expect, test } from 'vitest'
import { callSentence, timesOf, type DescribedCall } from '../../../src/views/call-text.ts'

const [BEGAN, FINISHED, NOW] = ['2026-11-20T08:00:00.000Z', '2026-11-20T08:00:44.000Z', '2026-11-20T08:05:00.000Z']
const over: DescribedCall = {
  type: 'audio',
  mode: 'call',
  receiver_type: 'user',
  status: 'unanswered',
  began: BEGAN,
  finished: FINISHED,
}
const { finished: _, ...open } = over
const answered: DescribedCall = { ...over, status: 'ended', answer_delay_seconds: 4, duration_seconds: 40 }
const meeting: DescribedCall = { ...over, mode: 'meet', receiver_type: 'group', type: 'video' }

test.each<[string, string, DescribedCall]>([
  ['rang 44s, nobody answered', '0 rings, 44 unanswered', over],
  ['rang 44s, rejected', '0 rings, 44 rejected', { ...over, status: 'rejected' }],
  ['rang 44s, canceled by the caller', '0 rings, 44 canceled', { ...over, status: 'canceled' }],
  ['rang at least 44s, nobody answered', '0 rings, 44 last seen, then unanswered', { ...over, end_unknown: true }],
  [
    'rang at least 44s, rejected',
    '0 rings, 44 last seen, then rejected',
    { ...over, status: 'rejected', end_unknown: true },
  ],
  ['nobody answered', '0 rings', { ...over, finished: BEGAN, end_unknown: true }],
  // Without an end of its own, a call finished when it began: for how long it rang is not known.
  ['nobody answered', '0 rings', { ...over, finished: BEGAN }],
  ['rejected', '0 rings', { ...over, status: 'rejected', finished: BEGAN }],
  ['rang 5m, nobody has answered yet', '0 rings, 300 now', { ...open, status: 'initiated' }],
  ['is connected', '0 rings, 300 now', { ...open, status: 'ongoing' }],
  ['rang 4s, connected for 40s', '0 rings, 4 talks, 44 ended', answered],
  ['connected for 40s', '0 rings, 44 ended', { ...answered, answer_delay_seconds: 0 }],
  ['ended after 44s', '0 begins, 44 ended', { ...over, status: 'ended', duration_seconds: 44 }],
  ['rang 4s, ended', '0 rings, 4 talks', { ...over, status: 'ended', finished: BEGAN, answer_delay_seconds: 4 }],
  ['ended', '0 begins, 44 ended', { ...over, status: 'ended' }],
  ['ended', '0 begins', { ...over, status: 'ended', finished: BEGAN }],
  ['has a status that is not documented', '0 rings, 44 other', { ...over, status: 'other' }],
  ['has a status that is not documented', '0 rings, 300 now', { ...open, status: 'other' }],
  ['the service no longer knows it, and callwatch never saw its end', '0 rings, 44 lost', { ...over, status: 'lost' }],
])('%s (%s)', (outcome, times, call) => {
  expect(callSentence(call, '08:00:00 UTC', NOW)).toBe(`Audio call to a user, 08:00:00 UTC: ${outcome}.`)
  const shown = timesOf(call, NOW).map(({ at, what }) => `${(Date.parse(at) - Date.parse(BEGAN)) / 1000} ${what}`)
  expect(shown.join(', ')).toBe(times)
})

test.each<[string, DescribedCall]>([
  ['Video meeting with a group, now: connected for 44s.', { ...meeting, status: 'ended', duration_seconds: 44 }],
  ['Video meeting with a group, now: nobody has answered yet.', { ...meeting, status: 'initiated' }],
  ['Audio presentation to a group, now: ended.', { ...meeting, mode: 'presenter', type: 'audio', status: 'ended' }],
  ['Call, now: rang 44s, rejected.', { ...over, type: 'other', receiver_type: 'other', status: 'rejected' }],
])('%s', (sentence, call) => {
  expect(callSentence(call, 'now', NOW)).toBe(sentence)
})
