import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALL_LABELS, labelsOf } from '../../../src/ledger/call.ts'
import { MARK, type Finish, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { CALL_COLUMNS, callOf, callOfRow, valuesOf } from '../../../src/store/call-columns.ts'
import { replacing, TABLES } from '../../../src/store/tables.ts'
import { anyCall, PHASES } from '../ledger/any-call.ts'
import { runs } from '../../kit/runs.ts'

/** A call of which everything is known. */
const FULL: TrackedCall = {
  id: 'full',
  session: 'session',
  mid: 4_503_599_627_370_495,
  phase: 'final',
  status: 'rejected',
  labels: labelsOf('video', 'meet', 'group'),
  firstSeen: 1_790_000_000.25,
  initiatedAt: 1_789_999_990,
  startedAt: 1_789_999_992.5,
  endedAt: 1_790_000_060,
  totalParticipants: 7,
  joined: 2,
  minutes: [0.5, 1.5, 2, 3.75],
  finish: {
    status: 'ended',
    labels: labelsOf('audio', 'call', 'user'),
    at: 1_790_000_060,
    known: 1_790_000_070,
    knownHostTime: 1_790_000_071,
    began: 1_789_999_989,
    answerDelay: 3,
    duration: 66,
    audio: 0.25,
    video: 0.75,
    invited: { joined: 2, absent: 1 },
  },
  notFound: 1,
  retainUntil: 1_790_000_070,
  marks: MARK.durationObserved | MARK.final_changed | MARK.too_many_participants,
}

/** A call of which as little as possible is known. */
const BARE: TrackedCall = {
  ...FULL,
  id: 'bare',
  session: undefined,
  mid: undefined,
  phase: 'open',
  status: 'initiated',
  labels: labelsOf('other', 'other', 'other'),
  firstSeen: 1,
  initiatedAt: undefined,
  startedAt: undefined,
  endedAt: undefined,
  totalParticipants: undefined,
  joined: undefined,
  minutes: [0, 0, 0, 0],
  finish: undefined,
  notFound: 0,
  retainUntil: undefined,
  marks: 0,
}

test('the columns of a call restore any call, unknown values included', () => {
  fc.assert(
    fc.property(anyCall, (call) => {
      const back = callOf(valuesOf(call))
      expect(back).toStrictEqual(call)
      // Labels are compared by identity.
      expect(back.labels).toBe(call.labels)
      expect(back.finish?.labels).toBe(call.finish?.labels)
      expect(callOfRow(Object.fromEntries(valuesOf(call).map((value, i) => [CALL_COLUMNS[i]!, value])))).toEqual(back)
    }),
    { numRuns: runs(2000) },
  )
})

// SQLite would write the index of the key again.
test('no key is replaced', () => expect(replacing('calls', ['id', 'marks'])).toBe('UPDATE SET marks = excluded.marks'))

test('a column of a call is described and read: that are its two places', () => {
  const ownOfTheRow = ['target', 'tracked', 'unseen_since']
  expect([...ownOfTheRow, ...CALL_COLUMNS].toSorted()).toEqual(Object.keys(TABLES.calls.columns).toSorted())
  // No value is written twice, and none is read at the place of another one.
  const values = valuesOf(FULL)
  expect(values).toHaveLength(CALL_COLUMNS.length)
  for (const [i, name] of CALL_COLUMNS.entries()) {
    const other = values.with(i, ['id', 'session'].includes(name) ? 'another' : Number(values[i]) === 1 ? 2 : 1)
    if (name === 'finish_status') other[i] = 3
    expect([name, callOf(other)]).not.toEqual([name, FULL])
    expect([name, valuesOf(callOf(other))]).toEqual([name, other])
  }
})

// Stores contain these values: if one of these tests fails, the code is wrong.
describe('the values of a call stay as stores contain them:', () => {
  const none = (count: number) => Array.from({ length: count }, () => null)
  const full = [
    'full', 2, 4, 16, 1_790_000_000.25, 1_789_999_990, 1_789_999_992.5, 1_790_000_060, 7, 2, 0.5, 1.5, 2, 3.75, 1, 1_790_000_070, 0x841,
    2, 0, 1_790_000_060, 1_790_000_070, 1_790_000_071,
  ] // oxfmt-ignore
  const own = [4_503_599_627_370_495, 'session', 2, 1]
  const withFinish = (differing: Partial<Finish>) => ({ ...FULL, finish: { ...FULL.finish!, ...differing } })
  const same = { began: 1_789_999_990, answerDelay: 2.5, duration: 67.5, audio: 0.5, video: 1.5 }
  const late = { answerDelay: undefined, duration: undefined }
  test.each<[string, TrackedCall, unknown[]]>([
    ['a call of which everything is known', FULL, [...full, 1_789_999_989, 3, 66, 0.25, 0.75, ...own]],
    ['a call that was not corrected after its end', withFinish(same), [...full, ...none(5), ...own]],
    ['a call that has its times since its end', withFinish(late), [...full, 1_789_999_989, -1, -1, 0.25, 0.75, ...own]],
    ['a call of which little is known', BARE, ['bare', 0, 0, 35, 1, ...none(5), 0, 0, 0, 0, 0, null, 0, ...none(14)]],
  ])('%s', (_what, call, values) => {
    expect(valuesOf(call)).toEqual(values)
  })

  test('the code of each phase, status, set of labels and mark', () => {
    const value = (name: (typeof CALL_COLUMNS)[number], differing: Partial<TrackedCall>) =>
      valuesOf({ ...FULL, ...differing })[CALL_COLUMNS.indexOf(name)]
    const phases = ['open', 'lost', 'final', 'baseline'] as const
    expect(phases.map((phase) => value('phase', { phase }))).toEqual([0, 1, 2, 3])
    expect(phases.toSorted()).toEqual(PHASES.toSorted())

    const final = ['ended', 'unanswered', 'rejected', 'canceled', 'other'] as const
    const statuses = ['initiated', 'ongoing', ...final] as const
    expect(statuses.map((status) => value('last_status', { status }))).toEqual([0, 1, 2, 3, 4, 5, 6])
    const finishes = final.map((status) => ({ ...FULL.finish!, status }))
    expect(finishes.map((finish) => value('finish_status', { finish }))).toEqual([2, 3, 4, 5, 6])

    const labels = (['audio', 'video', 'other'] as const).flatMap((type) =>
      (['call', 'meet', 'presenter', 'other'] as const).flatMap((mode) =>
        (['user', 'group', 'other'] as const).map((receiverType) => labelsOf(type, mode, receiverType)),
      ),
    )
    expect(new Set(labels)).toEqual(new Set(ALL_LABELS))
    const codes = Array.from({ length: 36 }, (_, code) => code)
    expect(labels.map((one) => value('last_labels', { labels: one }))).toEqual(codes)
    expect(labels.map((one) => value('finish_labels', { finish: { ...FULL.finish!, labels: one } }))).toEqual(codes)

    expect(MARK).toEqual({
      durationObserved: 0x1,
      answerDelayObserved: 0x2,
      participantsObserved: 0x4,
      recordingSeen: 0x8,
      endUnknown: 0x10,
      detailsWanted: 0x20,
      final_changed: 0x40,
      unknown_status: 0x80,
      labels_changed: 0x100,
      bad_value: 0x200,
      time_reversed: 0x400,
      too_many_participants: 0x800,
      overAtSetUp: 0x2000,
      wentBack: 0x4000,
    })
  })
})
