import { describe, expect, test } from 'vitest'

import { readCall, type SeenCall } from '../../kit/replay/seen-call.ts'
import { START as NOW } from '../../kit/world/request-service.ts'

function read(fields: Record<string, unknown>): SeenCall {
  const item = { sessionId: 'a', status: 'ended', ...fields }
  const seen = readCall(item, { now: NOW, statusMap: { busy: 'rejected' } })
  if (typeof seen === 'string') throw new Error(seen)
  return seen
}

const minutes = (audio: unknown, video: unknown, total?: unknown) => ({
  totalAudioMinutes: audio,
  totalVideoMinutes: video,
  totalDurationInMinutes: total,
})

describe('the participants of a call', () => {
  test.each([
    ['no list', undefined, {}],
    ['null', null, {}],
    ['an object', {}, {}],
    ['an empty list', [], {}],
    ['entries that say nothing about minutes', [{ uid: 'a' }, {}, null, 7], {}],
    ['entries whose minutes are empty texts', [minutes('', ' ', '')], {}],
    ['both media', [minutes(1, 2), minutes(3, 4)], { audio: 4, video: 6, total: 0 }],
    ['one medium', [minutes(1, undefined)], { audio: 1, video: 0, total: 0 }],
    ['what is no entry beside entries', [null, 'x', minutes(1, 2), 7], { audio: 1, video: 2, total: 0 }],
    ['a total beside media', [minutes(1, 2, 9)], { audio: 1, video: 2, total: 0 }],
    ['a total of an entry without media', [minutes(1, 2), minutes(null, null, 5)], { audio: 1, video: 2, total: 5 }],
    ['a total that is a float', [{ totalDuration: 2.5 }], { audio: 0, video: 0, total: 2.5 }],
    ['a total that is a clock text', [{ totalDuration: '00:02:30' }], {}],
  ])('%s', (_what, participants, expected) => {
    const { participantMinutes, anomalies } = read({ participants })
    expect(participantMinutes).toEqual(expected)
    expect([...anomalies]).toEqual([])
  })

  test.each([
    ['audio that cannot be used', [minutes('x', 2), minutes(3, 4)], { video: 6, total: 0 }],
    ['video that cannot be used', [minutes(1, -2), minutes(3, 4)], { audio: 4, total: 0 }],
    ['both that cannot be used', [minutes(1, true), minutes({}, 4)], { total: 0 }],
    ['more minutes than can be', [minutes(1e9, 2)], { video: 2, total: 0 }],
    ['nothing but audio that cannot be used', [minutes([], null)], { video: 0, total: 0 }],
    ['a bad total of an entry without media', [minutes(1, 2), minutes(null, null, 'x')], {}],
    ['a bad float of an entry without media', [minutes(1, 2), { totalDuration: -1 }], {}],
    ['a bad total of an entry with media', [minutes(1, 2, 'x')], { audio: 1, video: 2, total: 0 }],
  ])('%s', (_what, participants, expected) => {
    const { participantMinutes, anomalies } = read({ participants })
    expect(participantMinutes).toEqual(expected)
    expect([...anomalies]).toEqual(['bad_value'])
  })
})

describe("the call's own minutes", () => {
  test.each([
    [minutes(1, 2, 3), { audio: 1, video: 2 }],
    [minutes(undefined, null, '3'), { total: 3 }],
    [minutes('', undefined, 3), { total: 3 }],
    [minutes(undefined, 2, 3), { video: 2 }],
    [minutes('x', undefined, 3), {}],
    [minutes('', '', ''), {}],
  ])('%j are %j', (fields, expected) => {
    expect(read(fields).callMinutes).toEqual(expected)
  })
})

describe('what is missing is no anomaly:', () => {
  test.each([null, undefined, '', '  '])('%j', (nothing) => {
    const fields = [
      'initiatedAt',
      'startedAt',
      'endedAt',
      'totalParticipants',
      'totalAudioMinutes',
      'type',
      'participants',
    ]
    const { anomalies, ownTime, labels } = read(Object.fromEntries(fields.map((name) => [name, nothing])))
    expect([[...anomalies], ownTime]).toEqual([[], undefined])
    if (nothing !== '  ') expect(labels).toEqual({})
  })
})

describe('a time', () => {
  test.each([
    [0, undefined],
    ['0', undefined],
    [NOW + 86_400, NOW + 86_400],
    [NOW * 1000 + 999, NOW],
    [String(NOW), NOW],
  ])('%j is %j', (endedAt, expected) => {
    const { ownTime, anomalies } = read({ endedAt })
    expect([ownTime, [...anomalies]]).toEqual([expected, []])
  })

  test.each([NOW + 86_401, NOW * 1e6, 60])('that cannot be true is an anomaly: %j', (endedAt) => {
    const { ownTime, anomalies } = read({ endedAt })
    expect([ownTime, [...anomalies]]).toEqual([undefined, ['bad_value']])
  })
})

test('labels are taken as they are written, statuses in any case', () => {
  expect(read({ type: 'Video', mode: 'CALL', receiverType: 'user' }).labels).toEqual({
    type: 'other',
    mode: 'other',
    receiver_type: 'user',
  })
  expect([read({ status: 'ENDED' }).status, read({ status: 'Busy' }).status]).toEqual(['ended', 'rejected'])
  expect(read({ status: 'constructor' }).status).toBe('other')
})
