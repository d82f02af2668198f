import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventId, eventsOf, readBody, writeBody } from '../../../src/events/event.ts'
import type { SeenCall } from '../../../src/ledger/call.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import { firingOf, POLL_AGE } from '../../kit/alerts/sample-rules.ts'
import { asked, completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'
import { finishedCall } from '../../kit/metrics/hand-made-target.ts'
import { runs } from '../../kit/runs.ts'

const at = (seconds: number) => new Date((CREATED + seconds) * 1000).toISOString()

/** The events of a target's polls, one after the other. */
function eventsOfPolls(options: Parameters<typeof ledgerBook>[0] = {}) {
  const book = ledgerBook(options)
  return (observation: Observation, backfilled = false) => {
    const ledger = book.see(observation)
    return ledger === undefined ? [] : eventsOf({ ledger, notifications: [], backfilled })
  }
}

test('each transition is an event, at the time when it happened; one between two polls is inferred', () => {
  const see = eventsOfPolls()
  const call = { initiatedAt: CREATED + 1, mode: 'call', type: 'video' } as const
  expect(see(completePoll(2, seen('x', 'initiated', call)))).toEqual([
    {
      type: 'call.initiated',
      subject: 'x',
      time: at(1),
      data: {
        type: 'video',
        mode: 'call',
        receiver_type: 'user',
        status: 'initiated',
        began: at(1),
        participants: 0,
        minutes: { audio: 0, video: 0 },
        has_recording: false,
        from: 'none',
        to: 'initiated',
        inferred: false,
        detected_at: at(2),
        backfilled: false,
      },
    },
  ])
  const ended = seen('x', 'ended', {
    ...call,
    startedAt: CREATED + 5,
    endedAt: CREATED + 65,
    callMinutes: { audio: 0, video: 1, total: undefined },
    totalParticipants: 2,
    hasRecording: true,
  })
  expect(see(completePoll(70, ended), true)).toMatchObject([
    { type: 'call.ongoing', time: at(5), data: { from: 'initiated', to: 'ongoing', inferred: true, backfilled: true } },
    {
      type: 'call.ended',
      time: at(65),
      data: {
        status: 'ended',
        inferred: true,
        detected_at: at(70),
        finished: at(65),
        duration_seconds: 60,
        answer_delay_seconds: 4,
        participants: 2,
        minutes: { audio: 0, video: 1 },
        has_recording: true,
      },
    },
  ])
})

/** The ids of all events of a call whose statuses are seen one after the other, each by its type. */
function idsOf(statuses: readonly (SeenCall['status'] | 'unknown')[], call: Partial<SeenCall> = {}) {
  const see = eventsOfPolls()
  const times = { initiatedAt: CREATED + 1, startedAt: CREATED + 5 }
  return statuses.flatMap((status, i) => {
    const now = 10 * (i + 1)
    const shown = status !== 'unknown' && seen('x', status, { ...times, ...call })
    const poll = shown ? completePoll(now, shown) : { answers: [asked(CREATED + now, undefined, ['x'])] }
    return see(poll).map(
      (body) => [body.type, eventId('a', readBody('a', writeBody(body), ''), writeBody(body))] as const,
    )
  })
}

test('no two events of a call have the same id, also where a status comes again', () => {
  const there = ['initiated', 'ongoing', 'initiated', 'ongoing', 'unknown', 'unknown', 'ongoing'] as const
  const whole = [
    ...there,
    'unknown',
    'unknown',
    'ongoing',
    'initiated',
    'ended',
    'rejected',
    'ended',
    'rejected',
  ] as const
  expect(idsOf(whole).length).toBeGreaterThan(11)
  const drawn = fc.array(fc.constantFrom('initiated', 'ongoing', 'other', 'ended', 'rejected', 'unknown'), {
    maxLength: 20,
  })
  fc.assert(
    fc.property(drawn, (statuses) => {
      const ids = idsOf(statuses).map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }),
    { numRuns: runs(300), examples: [[[...whole]]] },
  )
})

test('an event that is found again, at other times and after other events, has the id that it had', () => {
  const before = new Map(idsOf(['initiated', 'ongoing', 'ended']))
  expect(new Map(idsOf(['ended']))).toEqual(before)
  expect(new Map(idsOf(['initiated', 'initiated', 'ended']))).toEqual(before)
  const lost = new Map(idsOf(['initiated', 'unknown', 'unknown', 'initiated', 'ended']))
  expect(lost.get('call.ended')).toBe(before.get('call.ended'))
  expect(new Map(idsOf(['ended'], { initiatedAt: CREATED + 2 })).get('call.ended')).not.toBe(before.get('call.ended'))
})

test.each([
  ['the id of its session', undefined, 'x'],
  ['an id of its own', 'room', 'room'],
])('an event of a call that has %s says both ids, as the log has it too', (_which, session, expected) => {
  const call = finishedCall('x', { session })
  const change = { call, at: CREATED, participants: undefined }
  const [body, ...others] = eventsOf({
    ledger: {
      transitions: [{ ...change, from: 'ongoing', to: 'ended', observed: true }],
      corrections: [{ ...change, before: call }],
      details: [change],
    },
    notifications: [],
    backfilled: false,
  })
  for (const each of [body!, ...others]) {
    const { subject, data } = readBody('a', writeBody(each), '')
    expect(subject).toBe('x')
    expect(Object.entries(data).slice(0, 3)).toEqual([
      ['target', 'a'],
      ['call_id', 'x'],
      ['session_id', expected],
    ])
  }
  expect(others).toHaveLength(2)
})

test('a call that is lost, and one that reappears, is an event when callwatch sees it', () => {
  const see = eventsOfPolls()
  see(completePoll(1, seen('x', 'ongoing', { initiatedAt: CREATED })))
  for (const seconds of [2, 3]) {
    const events = see({ answers: [asked(CREATED + seconds, undefined, ['x'])] })
    expect(events).toMatchObject(seconds === 2 ? [] : [{ type: 'call.lost', time: at(3), data: { from: 'ongoing' } }])
  }
  expect(see(completePoll(9, seen('x', 'ongoing', { initiatedAt: CREATED })))).toMatchObject([
    { type: 'call.reappeared', time: at(9), data: { from: 'lost', to: 'ongoing' } },
  ])
})

test('a call that reappears over is two events, so that its end is one as of any other', () => {
  const see = eventsOfPolls()
  const call = { initiatedAt: CREATED }
  see(completePoll(1, seen('x', 'ongoing', call)))
  for (const seconds of [2, 3]) see({ answers: [asked(CREATED + seconds, undefined, ['x'])] })
  expect(see(completePoll(9, seen('x', 'ended', { ...call, endedAt: CREATED + 5 })))).toMatchObject([
    { type: 'call.reappeared', time: at(9), data: { from: 'lost', to: 'ended' } },
    { type: 'call.ended', time: at(5), data: { from: 'lost', to: 'ended' } },
  ])
})

test('what the service corrects after the end is one event, with what was so before', () => {
  const see = eventsOfPolls()
  const ended = (more: object) => seen('x', 'ended', { initiatedAt: CREATED, endedAt: CREATED + 60, ...more })
  const minutes = (audio: number) => ({ callMinutes: { audio, video: 0, total: undefined } })
  see(completePoll(70, ended(minutes(3))))
  expect(see(completePoll(80, ended(minutes(3))))).toEqual([])
  expect(see(completePoll(90, ended(minutes(2))))).toMatchObject([
    {
      type: 'call.corrected',
      time: at(90),
      data: { status: 'ended', minutes: { audio: 2 }, before: { status: 'ended', minutes: { audio: 3, video: 0 } } },
    },
  ])
  expect(see(completePoll(99, { ...ended(minutes(2)), status: 'rejected' }))).toMatchObject([
    { type: 'call.corrected', data: { before: { status: 'ended' }, after: { status: 'rejected' } } },
  ])
})

test('participants that become known after the end are no correction', () => {
  const see = eventsOfPolls()
  const ended = { endedAt: CREATED + 5, callMinutes: { audio: 2, video: 0, total: undefined } }
  see(completePoll(10, seen('x', 'ended', { ...ended, hasParticipantList: false })))
  const participantMinutes = { audio: 4, video: 0, total: undefined }
  expect(see({ answers: [asked(CREATED + 11, seen('x', 'ended', { ...ended, participantMinutes }))] })).toEqual([])
})

test('a call with an undocumented status ends when the service says when it ended', () => {
  const see = eventsOfPolls()
  const call = { initiatedAt: CREATED }
  see(completePoll(1, seen('x', 'ongoing', call)))
  expect(see(completePoll(2, seen('x', 'other', call)))).toEqual([])
  expect(see(completePoll(9, seen('x', 'other', { ...call, endedAt: CREATED + 8 })))).toMatchObject([
    { type: 'call.other', time: at(8), data: { status: 'other', finished: at(8) } },
  ])
})

test('what changes of a call that was over when the target was set up is no news either', () => {
  const see = eventsOfPolls({ baseline: 'count' })
  const over = { initiatedAt: CREATED - 60, endedAt: CREATED - 1, hasParticipantList: false }
  expect(see(completePoll(1, seen('x', 'ended', over)))).toEqual([])
  expect(see(completePoll(2, seen('x', 'rejected', over)))).toEqual([])
})

test.each([1, 2])(
  'a call that was open at the set-up has events, also if it ended before: seen over at %i s',
  (time) => {
    const see = eventsOfPolls()
    see(completePoll(1, seen('x', 'ongoing', { initiatedAt: CREATED - 60 })))
    const over = { initiatedAt: CREATED - 60, endedAt: CREATED - 1 }
    expect(see(completePoll(time, seen('x', 'ended', over)))).toMatchObject([{ type: 'call.ended', time: at(-1) }])
    expect(see(completePoll(3, seen('x', 'unanswered', over)))).toMatchObject([{ type: 'call.corrected' }])
  },
)

test.each(['skip', 'count'] as const)('a call that was over when the target was set up is no news: %s', (baseline) => {
  const see = eventsOfPolls({ baseline })
  const over = seen('x', 'ended', { initiatedAt: CREATED - 60, endedAt: CREATED - 1 })
  expect(see(completePoll(1, over, seen('y', 'ongoing', { initiatedAt: CREATED - 60 })))).toMatchObject([
    { type: 'call.initiated', subject: 'y' },
    { type: 'call.ongoing', subject: 'y' },
  ])
})

test('a change of an alert is an event', () => {
  const firing = firingOf(POLL_AGE, 'a', CREATED, { value: 400, peak: 400 })
  const expired = { ...firing, kind: 'expired', expiredBecause: 'rule removed' } as const
  const notifications = [firing, expired]
  const ledger = { transitions: [], corrections: [], details: [] }
  const events = eventsOf({ ledger, notifications, backfilled: false })
  expect(events).toMatchObject([
    { type: 'alert.firing', time: at(0), data: { target: 'a', alert: 'NoGoodPoll', value: 400 } },
    { type: 'alert.expired', data: { expired_because: 'rule removed' } },
  ])
  expect(events.every(({ subject }) => subject === undefined)).toBe(true)
})
