import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallStatus, SeenCall } from '../../../src/ledger/call.ts'
import { readCall, readSessionId } from '../../../src/service/wire-call.ts'
import { runs } from '../../kit/runs.ts'

const NOW = 1_790_000_000
const MOST_MINUTES = 50 * 31 * 24 * 60
const STATUS_MAP = new Map<string, CallStatus>([
  ['cancelled', 'canceled'],
  ['missed', 'unanswered'],
  ['busy', 'rejected'],
])

function reading(item: unknown) {
  const unknown: [string, string][] = []
  const call = readCall(item, {
    now: NOW,
    statusMap: STATUS_MAP,
    onUnknown: (field, value) => void unknown.push([field, value]),
  })
  return { call, unknown }
}

/** The call with these fields beside the required ones. */
function readWith(fields: Record<string, unknown>): SeenCall {
  const { call } = reading({ sessionId: 's', status: 'ended', ...fields })
  if (typeof call === 'string') throw new Error(`invalid: ${call}`)
  return call
}

const BARE: SeenCall = {
  id: 's',
  session: 's',
  mid: undefined,
  status: 'ended',
  type: undefined,
  mode: undefined,
  receiverType: undefined,
  initiatedAt: undefined,
  startedAt: undefined,
  endedAt: undefined,
  callMinutes: { audio: undefined, video: undefined, total: undefined },
  participantMinutes: { audio: undefined, video: undefined, total: undefined },
  hasParticipantList: false,
  totalParticipants: undefined,
  joined: undefined,
  hasRecording: false,
  badValue: false,
}

/** The published sample, with the fields that callwatch does not use. */
const SAMPLE = {
  sessionId: 'v1.in.3178.171',
  mid: '9b-1',
  type: 'audio',
  mode: 'call',
  receiverType: 'user',
  status: 'ended',
  initiator: 'alice',
  receiver: 'bob',
  initiatedAt: NOW - 60,
  startedAt: NOW - 50,
  endedAt: NOW - 31,
  totalAudioMinutes: 0.3167,
  totalVideoMinutes: 0,
  totalDurationInMinutes: 0.3167,
  totalDuration: '00:00:19',
  totalParticipants: 2,
  hasRecording: false,
  hasTranscription: false,
  tags: [],
  metaData: [],
  participants: [
    {
      uid: 'alice',
      totalAudioMinutes: 0.3167,
      totalVideoMinutes: 0,
      totalDuration: 0.3167,
      deviceId: 'd1',
      isJoined: true,
      joinedAt: NOW - 50,
      leftAt: NOW - 31,
      state: 'ended',
    },
    { uid: 'bob', totalAudioMinutes: 0.2833, totalVideoMinutes: 0, totalDuration: 0.2833, isJoined: true },
    { uid: 'carol', isJoined: false, state: 'unanswered' },
  ],
}

test('the published sample is read, with two separate levels of minutes', () => {
  const { call, unknown } = reading(SAMPLE)
  expect(call).toEqual({
    id: 'v1.in.3178.171',
    session: 'v1.in.3178.171',
    mid: expect.any(Number),
    status: 'ended',
    type: 'audio',
    mode: 'call',
    receiverType: 'user',
    initiatedAt: NOW - 60,
    startedAt: NOW - 50,
    endedAt: NOW - 31,
    end: NOW - 31,
    callMinutes: { audio: 0.3167, video: 0, total: undefined },
    participantMinutes: { audio: 0.3167 + 0.2833, video: 0, total: undefined },
    hasParticipantList: true,
    totalParticipants: 2,
    joined: 1,
    invited: { joined: 1, absent: 1 },
    hasRecording: false,
    badValue: false,
  })
  expect(unknown).toEqual([])
})

test('a session id and a status are enough for a call', () => {
  expect(readWith({})).toEqual(BARE)
})

describe('a call without endedAt', () => {
  const left = (...times: unknown[]) => ({ participants: times.map((leftAt) => ({ isJoined: true, leftAt })) })
  const lasted = { startedAt: NOW - 7200, totalDuration: '01:00:05' }
  test.each([
    ['the last participant left', { ...lasted, ...left(NOW - 90, NOW - 30, NOW - 60) }, NOW - 30],
    ['its duration was over, if nobody is said to have left', { ...lasted, ...left(undefined) }, NOW - 3595],
    ['its duration was over, if all times of leaving are unusable', { ...lasted, ...left('soon', 5e14) }, NOW - 3595],
    ['the last one left whose time is usable', left(NOW - 60, NOW + 9e6), NOW - 60],
    ['the last one left, if endedAt is unusable', { ...left(NOW - 60), endedAt: 'soon' }, NOW - 60],
    ['a duration of more than a day was over', { startedAt: NOW - 1e5, totalDuration: '27:00:00' }, NOW - 2800],
  ])('ended when %s', (_when, fields, end) => {
    expect(readWith(fields)).toMatchObject({ endedAt: undefined, end })
  })

  test.each([
    ['a duration of nothing', { startedAt: NOW - 60, totalDuration: '00:00:00' }],
    ['a duration alone', { totalDuration: '00:01:00' }],
    ['a duration in minutes', { startedAt: NOW - 60, totalDuration: 1 }],
    ['a duration that is no time', { startedAt: NOW - 60, totalDuration: '1 min' }],
    ['a duration that ends far ahead', { startedAt: NOW - 60, totalDuration: '9999:00:00' }],
    ['no start that can be read', { startedAt: 'today', totalDuration: '00:01:00' }],
    ['nobody who left', left(undefined, null)],
  ])('has no known end with %s', (_what, fields) => {
    expect(readWith(fields).end).toBeUndefined()
  })
})

describe('an item that is not a call is invalid with a reason', () => {
  test.each([
    [null, 'not_an_object'],
    ['ended', 'not_an_object'],
    [17, 'not_an_object'],
    [[{ sessionId: 's', status: 'ended' }], 'not_an_object'],
    [{ status: 'ended' }, 'no_session_id'],
    [{ sessionId: '', status: 'ended' }, 'no_session_id'],
    [{ sessionId: null, status: 'ended' }, 'no_session_id'],
    [{ sessionId: ['s'], status: 'ended' }, 'no_session_id'],
    [{ sessionId: true, status: 'ended' }, 'no_session_id'],
    [{ sessionId: '\uD83D', status: 'ended' }, 'no_session_id'],
    [{ sessionId: 'a\u0000b', status: 'ended' }, 'no_session_id'],
    [{ sessionId: 'a'.repeat(501), status: 'ended' }, 'no_session_id'],
    [{ sessionId: 's' }, 'no_status'],
    [{ sessionId: 's', status: '' }, 'no_status'],
    [{ sessionId: 's', status: null }, 'no_status'],
    [{ sessionId: 's', status: 4 }, 'no_status'],
    [{}, 'no_session_id'],
  ])('%j: %s', (item, reason) => {
    expect(reading(item).call).toBe(reason)
  })
})

test.each([
  ['abc', 'abc'],
  [' a/b ü😀', ' a/b ü😀'],
  [12_345, '12345'],
  [0, '0'],
  [-1.5, '-1.5'],
])('the session id %j is read as the text %j', (id, text) => {
  expect(readSessionId(id)).toBe(text)
})

test.each([Number.NaN, Infinity, {}, [], false, undefined])('%j is not a session id', (id) => {
  expect(readSessionId(id)).toBeUndefined()
})

describe('the status of a call', () => {
  test.each([
    ['ended', 'ended'],
    ['ENDED', 'ended'],
    [' Ongoing ', 'ongoing'],
    ['Initiated', 'initiated'],
    ['unanswered', 'unanswered'],
    ['rejected', 'rejected'],
    ['Canceled', 'canceled'],
    ['cancelled', 'canceled'],
    ['Missed', 'unanswered'],
    ['BUSY', 'rejected'],
  ])('%j is %s', (spelling, status) => {
    const { call, unknown } = reading({ sessionId: 's', status: spelling })
    expect(call).toMatchObject({ status })
    expect(unknown).toEqual([])
  })

  test.each(['paused', 'failed', ' ', 'other', 'constructor', '__proto__', 'hasOwnProperty'])(
    '%j is other, and reported unchanged',
    (spelling) => {
      const { call, unknown } = reading({ sessionId: 's', status: spelling })
      expect(call).toMatchObject({ status: 'other' })
      expect(unknown).toEqual([['status', spelling]])
    },
  )

  test('is looked up in the status map first, which may also map a documented one', () => {
    const statusMap = new Map<string, CallStatus>([['canceled', 'rejected']])
    const call = readCall({ sessionId: 's', status: 'canceled' }, { now: NOW, statusMap, onUnknown: () => undefined })
    expect(call).toMatchObject({ status: 'rejected' })
  })
})

describe('a label of a call', () => {
  test.each([
    ['type', 'audio', 'audio'],
    ['type', 'Video', 'other'],
    ['mode', 'MEET', 'other'],
    ['mode', ' presenter', 'other'],
    ['receiverType', 'group', 'group'],
  ] as const)('%s %j is %s', (field, value, label) => {
    expect(readWith({ [field]: value })[field]).toBe(label)
  })

  test.each(['type', 'mode', 'receiverType'] as const)(
    '%s outside the documented values is other, and reported',
    (field) => {
      const { call, unknown } = reading({ sessionId: 's', status: 'ended', [field]: 'hologram' })
      expect(call).toMatchObject({ [field]: 'other' })
      expect(unknown).toEqual([[field, 'hologram']])
    },
  )

  test.each([undefined, null, '', 7, {}, []])('that is %j is unknown', (value) => {
    const { call, unknown } = reading({
      sessionId: 's',
      status: 'ended',
      type: value,
      mode: value,
      receiverType: value,
    })
    expect(call).toEqual(BARE)
    expect(unknown).toEqual([])
  })
})

describe('the minutes of a call', () => {
  test.each([
    [2, 2],
    ['2.5', 2.5],
    [' 3 ', 3],
    [0, 0],
    [MOST_MINUTES, MOST_MINUTES],
  ])('%j are %d', (value, minutes) => {
    expect(readWith({ totalAudioMinutes: value })).toEqual({
      ...BARE,
      callMinutes: { audio: minutes, video: undefined, total: undefined },
    })
  })

  test('more participants than possible, or a part of one, are a bad value', () => {
    expect(readWith({ totalParticipants: 1e6 })).toMatchObject({ totalParticipants: 1e6, badValue: false })
    for (const people of [1e308, 2.5, '0.5'])
      expect(readWith({ totalParticipants: people })).toEqual({ ...BARE, badValue: true })
  })

  test.each([undefined, null, '', '  '])('that are %j are missing, not a bad value', (value) => {
    expect(readWith({ totalAudioMinutes: value, totalParticipants: value, endedAt: value })).toEqual(BARE)
  })

  test.each([-0.1, '-1', 'two', 'NaN', 'Infinity', Number.NaN, true, {}, [], [2], MOST_MINUTES + 1, 1e300])(
    'that are %j are missing and a bad value',
    (value) => {
      expect(readWith({ totalVideoMinutes: value })).toEqual({ ...BARE, badValue: true })
    },
  )

  test('without a medium are a total, but only if neither medium is given', () => {
    expect(readWith({ totalDurationInMinutes: 5 }).callMinutes).toEqual({
      audio: undefined,
      video: undefined,
      total: 5,
    })
    expect(readWith({ totalDurationInMinutes: 5, totalVideoMinutes: 4 }).callMinutes).toEqual({
      audio: undefined,
      video: 4,
      total: undefined,
    })
    expect(readWith({ totalDuration: '00:05:00' })).toEqual(BARE)
  })

  test('that are bad do not affect valid ones', () => {
    expect(readWith({ totalAudioMinutes: 1, totalVideoMinutes: -1 })).toEqual({
      ...BARE,
      callMinutes: { audio: 1, video: undefined, total: undefined },
      badValue: true,
    })
    expect(readWith({ totalAudioMinutes: 1, totalVideoMinutes: 2, totalDurationInMinutes: -3 })).toEqual({
      ...BARE,
      callMinutes: { audio: 1, video: 2, total: undefined },
      badValue: true,
    })
    expect(readWith({ totalDurationInMinutes: 'five' })).toEqual({ ...BARE, badValue: true })
  })
})

describe('a time of a call', () => {
  test.each([
    [NOW - 5, NOW - 5],
    [String(NOW - 5), NOW - 5],
    [(NOW - 5) * 1000, NOW - 5],
    [(NOW - 5) * 1000 + 250, NOW - 4.75],
    [NOW + 86_400, NOW + 86_400],
    [0, undefined],
    ['0', undefined],
  ])('%j is %j, without a bad value', (value, time) => {
    expect(readWith({ initiatedAt: value, startedAt: value, endedAt: value })).toEqual({
      ...BARE,
      initiatedAt: time,
      startedAt: time,
      endedAt: time,
    })
  })

  test.each([NOW + 86_401, (NOW + 86_401) * 1000])('that is %d, a day ahead, is a bad value until then', (value) => {
    expect(readWith({ endedAt: value })).toEqual({ ...BARE, ahead: NOW + 86_401, badValue: true })
  })

  test.each([
    ['in microseconds', NOW * 1e6],
    ['in nanoseconds', String(NOW * 1e9)],
    ['in minutes', Math.floor(NOW / 60)],
    ['in days', NOW / 86_400],
    ['in 1999', 946_684_799],
    ['eleven years ahead', NOW + 11 * 365.25 * 86_400],
    ['at the limit of seconds', 1e11],
  ])('%s cannot be true, and is a bad value: %j', (_what, value) => {
    for (const name of ['initiatedAt', 'startedAt', 'endedAt'])
      expect(readWith({ [name]: value })).toEqual({ ...BARE, badValue: true })
    for (const name of ['joinedAt', 'leftAt'])
      expect(readWith({ participants: [{ [name]: value }] })).toMatchObject({ badValue: true })
  })

  test.each([-5, 'yesterday', 'Infinity', '1e400', {}, false])('%j is missing and a bad value', (value) => {
    expect(readWith({ endedAt: value })).toEqual({ ...BARE, badValue: true })
  })
})

const minutesOf = (...participants: unknown[]) => readWith({ participants }).participantMinutes

describe('the participants of a call', () => {
  test('add up per medium, whatever else an entry has', () => {
    expect(
      minutesOf(
        { totalAudioMinutes: 1, totalVideoMinutes: 2, totalDurationInMinutes: 99, totalDuration: 99 },
        { totalAudioMinutes: '0.5', totalVideoMinutes: null },
        { uid: 'never joined' },
      ),
    ).toEqual({ audio: 1.5, video: 2, total: undefined })
  })

  test.each([
    ['totalDurationInMinutes', { totalDurationInMinutes: 3 }, 3],
    ['totalDuration as a float of minutes', { totalDuration: 0.25 }, 0.25],
    ['the first of both', { totalDurationInMinutes: 3, totalDuration: 0.25 }, 3],
  ])('with no medium count as a total: %s', (_case, entry, total) => {
    expect(minutesOf(entry)).toEqual({ audio: 0, video: 0, total })
  })

  test.each(['00:05:00', '5'])('whose totalDuration is the text %j have no minutes', (totalDuration) => {
    expect(minutesOf({ totalDuration })).toEqual(BARE.participantMinutes)
  })

  test('with and without a medium are both counted', () => {
    expect(minutesOf({ totalAudioMinutes: 1 }, { totalDuration: 2 })).toEqual({ audio: 1, video: 0, total: 2 })
  })

  test.each([
    [
      'a medium',
      [{ totalAudioMinutes: 1, totalVideoMinutes: 2 }, { totalAudioMinutes: -1 }],
      [undefined, 2, undefined],
    ],
    ['a total', [{ totalAudioMinutes: 1 }, { totalDuration: -1 }], [undefined, undefined, undefined]],
  ])('with one invalid number in %s make that sum invalid, not smaller', (_case, participants, sums) => {
    const call = readWith({ participants })
    const { audio, video, total } = call.participantMinutes
    expect([audio, video, total]).toEqual(sums)
    expect(call.badValue).toBe(true)
  })

  test('may be an empty list: minutes are unknown, and nobody is in the call', () => {
    expect(readWith({ participants: [], totalParticipants: 2 })).toEqual({
      ...BARE,
      totalParticipants: 2,
      hasParticipantList: true,
      joined: 0,
    })
  })

  test.each([undefined, null, 'none', { 0: { totalAudioMinutes: 1 } }])(
    'that are %j are not a list, so all count as in the call',
    (participants) => {
      expect(readWith({ participants, totalParticipants: 3 })).toEqual({ ...BARE, totalParticipants: 3, joined: 3 })
    },
  )

  test('that are not objects are ignored', () => {
    expect(readWith({ participants: [null, 'x', 4, [], { totalAudioMinutes: 1, isJoined: true }] })).toMatchObject({
      participantMinutes: { audio: 1, video: 0, total: undefined },
      joined: 1,
    })
  })

  test.each([
    [{ isJoined: true }, 1],
    [{ isJoined: 1 }, 1],
    [{ isJoined: 'true' }, 1],
    [{ isJoined: true, leftAt: null }, 1],
    [{ isJoined: true, leftAt: '' }, 1],
    [{ isJoined: true, leftAt: 0 }, 1],
    [{ isJoined: true, leftAt: NOW }, 0],
    [{ isJoined: false }, 0],
    [{ isJoined: 'false' }, 0],
    [{}, 0],
  ])('are in the call if they joined and did not leave: %j counts %d', (entry, joined) => {
    expect(readWith({ participants: [entry] })).toMatchObject({ joined, badValue: false })
  })

  test('are not in the call if they left at a time that is a bad value', () => {
    const participants = [{ isJoined: true, leftAt: '2026-11-20T08:15:30Z' }]
    expect(readWith({ participants })).toMatchObject({ joined: 0, badValue: true })
  })
})

test.each([
  [{ hasRecording: true }, true],
  [{ hasRecording: 1 }, true],
  [{ hasRecording: 'true' }, true],
  [{ hasRecording: false }, false],
  [{ hasRecording: null }, false],
  [{ hasRecording: 'no' }, false],
  [{ recordings: [{ rid: 'r' }] }, true],
  [{ hasRecording: false, recordings: [{ rid: 'r' }] }, true],
  [{ recordings: [] }, false],
  [{ recordings: 'r' }, false],
  [{}, false],
])('a call is recorded by the flag or by its list of recordings: %j is %s', (fields, hasRecording) => {
  expect(readWith(fields).hasRecording).toBe(hasRecording)
})

test('a list of more participants than a call can have is a bad value, and they are unknown', () => {
  const entry = { totalAudioMinutes: 1 }
  expect(readWith({ participants: Array.from({ length: 10_000 }, () => entry) })).toMatchObject({
    participantMinutes: { audio: 10_000 },
    badValue: false,
  })
  expect(readWith({ participants: Array.from({ length: 10_001 }, () => entry) })).toEqual({ ...BARE, badValue: true })
})

describe('a call of any JSON', () => {
  // Half of the items have the fields of a call with any values: random JSON would hardly pass the first check.
  const oddities = fc.oneof(
    fc.constantFrom<unknown>('1e400', '-1', NOW, NOW * 1000, 1e300, 1e308, -1, '0x10', 'ended', true, null, '', [], {}),
    fc.jsonValue(),
  )
  const fields = ['status', 'type', 'mode', 'receiverType', 'initiatedAt', 'startedAt', 'endedAt', 'hasRecording']
  const minutes = ['totalAudioMinutes', 'totalVideoMinutes', 'totalDurationInMinutes', 'totalDuration', 'leftAt']
  const some = (keys: string[]) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, oddities])), { requiredKeys: [] })
  const item = fc
    .tuple(some([...fields, ...minutes, 'totalParticipants', 'recordings', 'sessionId']), fc.array(some(minutes)))
    .map(([call, participants]): unknown => ({ sessionId: 's', status: 'ended', participants, ...call }))

  test('is read without an exception, and has only finite numbers', () => {
    fc.assert(
      fc.property(fc.oneof(item, fc.jsonValue()), (value) => {
        const { call } = reading(value)
        if (typeof call === 'string') return
        const { id, status, callMinutes, participantMinutes, ...rest } = call
        expect(id).not.toBe('')
        expect(['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled', 'other']).toContain(status)
        const values = [rest, callMinutes, participantMinutes].flatMap((part) => Object.values(part))
        for (const number of values.filter((field) => typeof field === 'number')) {
          expect(Number.isFinite(number) && number >= 0).toBe(true)
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('participants', () => {
  const readParticipants = (participants: unknown, wanted = true) => {
    const item = { sessionId: 's', status: 'ended', participants }
    const call = readCall(item, { now: NOW, statusMap: STATUS_MAP, onUnknown: () => undefined, participants: wanted })
    return typeof call === 'string' ? call : call.participants
  }
  const NOBODY = {
    uid: undefined,
    state: undefined,
    joined: false,
    joinedAt: undefined,
    leftAt: undefined,
    minutes: { audio: undefined, video: undefined, total: undefined },
  }

  test('are read where they are wanted, as the published sample has them', () => {
    expect(readParticipants(SAMPLE.participants)).toMatchObject([
      { uid: 'alice', joined: true, joinedAt: NOW - 50, leftAt: NOW - 31, minutes: { audio: 0.3167, video: 0 } },
      { uid: 'bob', joined: true, minutes: { audio: 0.2833, video: 0 } },
      { uid: 'carol', state: 'unanswered', joined: false, joinedAt: undefined, leftAt: undefined },
    ])
  })

  test('are not read where they are not wanted: a call has nothing of them', () => {
    const item = { sessionId: 's', status: 'ended', participants: SAMPLE.participants }
    const call = readCall(item, { now: NOW, statusMap: STATUS_MAP, onUnknown: () => undefined })
    expect(call).not.toHaveProperty('participants')
    expect(JSON.stringify(call)).not.toMatch(/alice|bob|carol/)
  })

  test.each([
    [{}, {}],
    [{ uid: 7 }, { uid: '7' }],
    [{ uid: 2 ** 53 }, {}],
    [{ uid: { a: 1 } }, {}],
    [{ uid: '' }, {}],
    [{ uid: 'x'.repeat(501) }, {}],
    [{ state: 'ongoing' }, { state: 'ongoing' }],
    [{ state: 'asleep' }, { state: 'other' }],
    [{ state: 7 }, { state: 'other' }],
    [{ state: null }, {}],
    [{ isJoined: 1 }, { joined: true }],
    [{ joinedAt: NOW }, { joined: true, joinedAt: NOW }],
    [{ joinedAt: NOW * 1000 }, { joined: true, joinedAt: NOW }],
    [{ joinedAt: NOW + 1e6 }, {}],
    [{ joinedAt: 'soon', leftAt: 0 }, {}],
    [{ leftAt: NOW }, { joined: true, leftAt: NOW }],
    [{ totalVideoMinutes: 2 }, { minutes: { audio: 0, video: 2, total: undefined } }],
    [{ totalDuration: 2 }, { minutes: { audio: 0, video: 0, total: 2 } }],
    [{ totalAudioMinutes: -1 }, { minutes: { audio: undefined, video: 0, total: undefined } }],
  ])('%j is read as %j', (entry, expected) => {
    expect(readParticipants([entry])).toEqual([{ ...NOBODY, ...expected }])
  })

  test.each([undefined, null, 'nobody', { uid: 'alice' }, Array.from({ length: 10_001 }, () => ({ uid: 'alice' }))])(
    'that are no list are none (%#)',
    (participants) => {
      expect(readParticipants(participants)).toBeUndefined()
    },
  )

  test('that are no objects are left out', () => {
    expect(readParticipants([null, 7, { uid: 'alice' }])).toEqual([{ ...NOBODY, uid: 'alice' }])
  })
})

describe('times as ISO 8601', () => {
  const at = (text: string) => readWith({ startedAt: text })
  test.each([
    ['2026-09-21T14:13:20Z', 1_790_000_000],
    ['2026-09-21T14:13:20.250Z', 1_790_000_000.25],
    ['2026-09-21T16:13:20+02:00', 1_790_000_000],
    ['2026-09-21T16:13:20+0200', 1_790_000_000],
    ['2026-09-21T14:13:20', 1_790_000_000],
    ['2026-09-21T14:13', 1_789_999_980],
  ])('%s is read', (text, time) => {
    expect([at(text).startedAt, at(text).badValue]).toEqual([time, false])
  })

  test.each(['2026-13-41T14:13:20Z', '21/09/2026 14:13', 'Mon, 21 Sep 2026 14:13:20 GMT', 'yesterday'])(
    '%s is a bad value',
    (text) => {
      expect([at(text).startedAt, at(text).badValue]).toEqual([undefined, true])
    },
  )

  test('a call of which no time can be read is told of', () => {
    const item = { sessionId: 's', status: 'ended', startedAt: '21/09/2026', endedAt: '22/09/2026' }
    expect(reading(item).unknown).toEqual([['time', '"21/09/2026"']])
    expect(reading({ ...item, endedAt: NOW }).unknown).toEqual([])
    expect(reading({ sessionId: 's', status: 'ended' }).unknown).toEqual([])
  })
})

describe('the people whom a call invited', () => {
  const [alice, bob, carol] = [
    { uid: 'alice', isJoined: true },
    { uid: 'bob', isJoined: true },
    { uid: 'carol', isJoined: false },
  ]
  const invited = (participants: unknown, initiator: unknown = 'alice') => readWith({ initiator, participants }).invited

  test.each([
    ['are all but the initiator', [alice, bob, carol], { joined: 1, absent: 1 }],
    ['are nobody if the initiator is alone', [alice], { joined: 0, absent: 0 }],
    ['are one each, on two devices, and if they joined again', [alice, bob, bob, alice, bob], { joined: 1, absent: 0 }],
    [
      'joined if one of their entries says so',
      [{ ...bob, isJoined: false }, bob, carol, carol],
      { joined: 1, absent: 1 },
    ],
    ['may have no state', [{ ...bob, state: 'ended' }, carol], { joined: 1, absent: 1 }],
    [
      'may have other forms of flags',
      [
        { ...bob, isJoined: 1 },
        { ...carol, isJoined: 'false' },
      ],
      { joined: 1, absent: 1 },
    ],
    ['are those of the entries that are objects', [bob, null, 'dave', carol], { joined: 1, absent: 1 }],
  ])('%s', (_what, participants, numbers) => {
    expect(invited(participants)).toEqual(numbers)
  })

  test.each([
    ['there is no list of participants', undefined],
    ['the list is empty', []],
    ['it has no object', ['bob']],
    ['an entry has no uid', [bob, { isJoined: true }]],
    ['an entry does not say whether they joined', [bob, { uid: 'carol', state: 'unanswered' }]],
    ['it is longer than a list can be', Array.from({ length: 10_001 }, () => bob)],
  ])('are not known if %s', (_why, participants) => {
    expect(invited(participants)).toBeUndefined()
  })

  test.each([undefined, null, '', 7, {}])('are not known if the initiator is %j', (initiator) => {
    expect(readWith({ initiator, participants: [alice, bob] }).invited).toBeUndefined()
  })
})
