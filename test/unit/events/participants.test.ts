import { expect, test } from 'vitest'
import { eventsOf, type LoggedBody } from '../../../src/events/event.ts'
import { newEvents } from '../../../src/events/new-events.ts'
import { EVENT_TYPES } from '../../../src/views/event.ts'
import { readEvents } from '../../../src/events/read-events.ts'
import { eventLine } from '../../../src/commands/events.ts'
import type { SeenParticipant } from '../../../src/ledger/call.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import type { LoggedEvents } from '../../../src/store/store.ts'
import { asked, completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'

const at = (seconds: number) => new Date((CREATED + seconds) * 1000).toISOString()
const minutes = (audio?: number, video?: number, total?: number) => ({ audio, video, total })

const ALICE: SeenParticipant = {
  uid: 'alice',
  state: 'ended',
  joined: true,
  joinedAt: CREATED + 2,
  leftAt: CREATED + 62,
  minutes: minutes(1, 0),
}
const BOB: SeenParticipant = {
  uid: 'bob',
  state: 'unanswered',
  joined: false,
  joinedAt: undefined,
  leftAt: undefined,
  minutes: minutes(),
}
const IN_EVENTS = [
  {
    uid: 'alice',
    state: 'ended',
    joined: true,
    joined_at: at(2),
    left_at: at(62),
    minutes: { audio: 1, video: 0 },
  },
  { uid: 'bob', state: 'unanswered', joined: false, minutes: { audio: 0, video: 0 } },
]

function polls(options: Parameters<typeof ledgerBook>[0] = {}) {
  const book = ledgerBook(options)
  return (observation: Observation) => {
    const ledger = book.see(observation)!
    return { ledger, notifications: [], backfilled: false }
  }
}
const eventsOfPolls = (options?: Parameters<typeof ledgerBook>[0]) => {
  const see = polls(options)
  return (observation: Observation) => eventsOf(see(observation))
}
const listsIn = (events: readonly LoggedBody[]) =>
  events.map(({ type, data }) => [type, 'participant_list' in data ? data.participant_list : undefined])

test('every event of a call has the participants that its answer showed, also those that never joined', () => {
  const see = eventsOfPolls()
  const call = { initiatedAt: CREATED + 1 }
  const ringing = { ...ALICE, state: 'ongoing', leftAt: undefined, minutes: minutes() } as const
  expect(listsIn(see(completePoll(2, seen('x', 'initiated', { ...call, participants: [ringing] }))))).toEqual([
    [
      'call.initiated',
      [{ uid: 'alice', state: 'ongoing', joined: true, joined_at: at(2), minutes: { audio: 0, video: 0 } }],
    ],
  ])
  const over = { ...call, endedAt: CREATED + 62, participants: [ALICE, BOB] }
  expect(listsIn(see(completePoll(70, seen('x', 'ended', over))))).toEqual([
    ['call.ongoing', IN_EVENTS],
    ['call.ended', IN_EVENTS],
  ])
  const corrected = { ...over, callMinutes: minutes(1, 0), participants: [BOB] }
  expect(listsIn(see(completePoll(80, seen('x', 'ended', corrected))))).toEqual([
    ['call.corrected', IN_EVENTS.slice(1)],
  ])
})

test('an event has no list where its answer had none, and an empty one where that was empty', () => {
  const see = eventsOfPolls()
  expect(see(completePoll(2, seen('x', 'initiated', { hasParticipantList: false })))[0]!.data).not.toHaveProperty(
    'participant_list',
  )
  expect(listsIn(see(completePoll(3, seen('x', 'rejected', { participants: [] }))))).toEqual([['call.rejected', []]])
})

test('what an answer leaves out of a participant is left out; minutes without a medium are those of the type', () => {
  const see = eventsOfPolls()
  const bare = { ...BOB, uid: undefined, state: undefined, minutes: minutes(undefined, undefined, 3) }
  const call = seen('x', 'ongoing', { type: 'video', mode: 'meet', participants: [bare] })
  expect(listsIn(see(completePoll(1, call)))).toEqual([
    ['call.ongoing', [{ joined: false, minutes: { audio: 0, video: 3 } }]],
  ])
})

test.each([
  ['Get Call', (call: ReturnType<typeof seen>) => ({ answers: [asked(CREATED + 11, call)] })],
  ['a later list', (call: ReturnType<typeof seen>) => completePoll(11, call)],
])('participants that %s shows after the end are an event of their own, once', (_what, answer) => {
  const see = eventsOfPolls()
  const over = { endedAt: CREATED + 5, callMinutes: minutes(2, 0) }
  const ended = see(completePoll(10, seen('x', 'ended', { ...over, hasParticipantList: false })))
  expect(listsIn(ended).at(-1)).toEqual(['call.ended', undefined])
  const known = seen('x', 'ended', { ...over, participants: [ALICE, BOB] })
  expect(see(answer(known))).toMatchObject([
    {
      type: 'call.details',
      subject: 'x',
      time: at(11),
      data: { status: 'ended', participant_list: IN_EVENTS, detected_at: at(11) },
    },
  ])
  expect(see(completePoll(20, { ...known, participantMinutes: minutes(7, 0) }))).toEqual([])
})

test('participants of a call that was over when the target was set up are no news', () => {
  const see = eventsOfPolls({ baseline: 'count' })
  const over = { initiatedAt: CREATED - 60, endedAt: CREATED - 1 }
  expect(see(completePoll(1, seen('x', 'ended', { ...over, hasParticipantList: false })))).toEqual([])
  expect(see({ answers: [asked(CREATED + 2, seen('x', 'ended', { ...over, participants: [ALICE] }))] })).toEqual([])
})

test('a list without the option is no event of its own', () => {
  const see = eventsOfPolls()
  expect(EVENT_TYPES).toContain('call.details')
  see(completePoll(10, seen('x', 'ended', { endedAt: CREATED + 5, hasParticipantList: false })))
  const known = seen('x', 'ended', { endedAt: CREATED + 5, participantMinutes: minutes(7, 0) })
  expect(see({ answers: [asked(CREATED + 11, known)] })).toEqual([])
})

/** A log with the events of one poll. */
function logOf(observation: Observation): LoggedEvents {
  const events = newEvents(polls()(observation), CREATED)!
  return { ...events, position: 1, target: 'a', total: events.texts.length }
}
const readAll = (row: LoggedEvents) =>
  readEvents(
    { events: async (position) => (position > 1 ? [] : [row]), latestEvents: async () => [row] },
    { limit: 10 },
  )

test('the log has participants apart from all else, and a reader gets them in the event', async () => {
  const named = seen('x', 'ongoing', { mode: 'meet', participants: [ALICE, BOB] })
  const row = logOf(completePoll(1, seen('w', 'ongoing', { mode: 'meet' }), named))
  expect(row.texts.join('')).not.toMatch(/alice|bob/)
  expect(row.participants).toEqual(['', JSON.stringify(IN_EVENTS)])
  const { events } = await readAll(row)
  const data = events.map(({ event }) => JSON.parse(JSON.stringify(event.data)))
  expect(data.map(({ participant_list }) => participant_list)).toEqual([undefined, IN_EVENTS])
  const { participants: _, ...erased } = row
  const left = (await readAll(erased)).events
  const ids = (found: typeof events) => found.map(({ event, cursor }) => [event.id, cursor])
  expect(ids(left)).toEqual(ids(events))
  expect(left.map(({ event }) => event.data)).toEqual(data.map(({ participant_list: _list, ...rest }) => rest))
})

test('a commit whose events have no participants has none', () => {
  expect(logOf(completePoll(1, seen('x', 'ongoing', { mode: 'meet' })))).not.toHaveProperty('participants')
})

test('a line of an event in a terminal names nobody', async () => {
  const lines = (await readAll(logOf(completePoll(1, seen('x', 'ongoing', { participants: [ALICE, BOB] }))))).events
  expect(lines).toHaveLength(2)
  expect(lines.map((line) => eventLine(line)).join('\n')).not.toMatch(/alice|bob/)
})
