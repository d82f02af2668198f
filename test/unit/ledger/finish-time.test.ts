import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { COUNTERS, sumOf } from '../../../src/ledger/series.ts'
import { MARK } from '../../../src/ledger/tracked-call.ts'
import { quarterHourOf } from '../../../src/ledger/usage.ts'
import { asked, CREATED, ledgerBook, listed, seen } from '../../kit/ledger/seen.ts'

const at = (seconds: number) => CREATED + seconds

/** What answers show of a call, one after the other: when, and what. */
type Answers = readonly (readonly [seconds: number, status: SeenCall['status'], more?: Partial<SeenCall>])[]

function bookOf(answers: Answers) {
  const book = ledgerBook({ baseline: 'count' })
  const deltas = answers.map(([seconds, ...call]) => book.see({ answers: [listed(at(seconds), seen('a', ...call))] }))
  return { book, deltas, call: book.state.calls.get('a')! }
}

describe('a call finished', () => {
  const began = { initiatedAt: at(100) }
  const answered = { ...began, startedAt: at(110) }
  const open = ['initiated', began] as const
  test.each<[string, Answers, number]>([
    ['at endedAt', [[300, 'ended', { ...answered, endedAt: at(200) }]], 200],
    ['at its end by its other times', [[300, 'ended', { ...answered, end: at(180) }]], 180],
    ['when it began to ring, if it was never shown open', [[300, 'rejected', began]], 100],
    ['when it was answered, if the service sends no other time', [[300, 'ended', { startedAt: at(110) }]], 110],
    ['when it was first seen, if it has no time', [[300, 'rejected']], 300],
    ['not after it was first seen as final', [[300, 'ended', { ...answered, end: at(350) }]], 300],
    ['not before it began', [[300, 'ended', { ...answered, end: at(50) }]], 100],
    [
      'not before a poll showed it open',
      [
        [120, ...open],
        [300, 'canceled', { ...began, openUntil: at(130) }],
      ],
      130,
    ],
    [
      'nor before it was first seen, after a restart',
      [
        [120, ...open],
        [300, 'canceled', began],
      ],
      120,
    ],
    [
      'at endedAt, although a poll that lagged behind showed it open later',
      [
        [120, ...open],
        [300, 'rejected', { ...began, openUntil: at(130), endedAt: at(125) }],
      ],
      125,
    ],
    [
      'when a poll last showed it open, although its participants had left before',
      [
        [120, 'ongoing', answered],
        [300, 'ended', { ...answered, openUntil: at(190), end: at(150) }],
      ],
      190,
    ],
  ])('%s', (_when, answers, finished) => {
    expect(bookOf(answers).call.finish!.at - CREATED).toBe(finished)
  })
})

describe('an end that is shown later', () => {
  const began = { initiatedAt: at(100), startedAt: at(110) }
  const unended = [1300, 'ended', began] as const
  test('moves the finish there, and the call in windows and rollups, once', () => {
    const { book, deltas, call } = bookOf([
      unended,
      [1400, 'ended', { ...began, end: at(1200) }],
      [1500, 'ended', { ...began, end: at(1250) }],
    ])
    expect(deltas.map((delta) => delta?.changedFinishes.length)).toEqual([0, 1, undefined])
    expect(deltas[1]!.stale).toEqual(new Set([quarterHourOf(at(100)), quarterHourOf(at(1200))]))
    expect(call.finish).toMatchObject({ at: at(1200), known: at(1300) })
    const ats = book.state.finished.between(0, Infinity).map((finish) => finish.at - CREATED)
    expect(ats).toEqual([1200])
  })

  test('changes no counter, and is no event', () => {
    const { book, deltas } = bookOf([unended, [1400, 'ended', { ...began, endedAt: at(1200) }]])
    expect(sumOf(book.state, COUNTERS.finished)).toBe(1)
    const { transitions, corrections, details } = deltas[1]!
    expect([...transitions, ...corrections, ...details]).toEqual([])
  })

  test('does not move it past the time at which the end was noticed, nor before a poll showed the call open', () => {
    const late = bookOf([unended, [1400, 'ended', { ...began, end: at(1350) }]])
    expect(late.call.finish!.at).toBe(at(1300))
    const early = bookOf([[1250, 'ongoing', began], unended, [1400, 'ended', { ...began, end: at(1200) }]])
    expect(early.call.finish!.at).toBe(at(1250))
  })

  test('does not move a finish whose end was known', () => {
    const { call } = bookOf([
      [1300, 'ended', { ...began, end: at(1200) }],
      [1400, 'ended', { ...began, endedAt: at(1250) }],
    ])
    expect(call.finish!.at).toBe(at(1200))
    expect(call.marks & MARK.endUnknown).toBe(0)
  })

  test('moves a call that was over at the set-up, whose minutes stay where they were noticed', () => {
    const book = ledgerBook({ baseline: 'count' })
    const past = {
      initiatedAt: at(-5000),
      startedAt: at(-4990),
      participantMinutes: { audio: 3, video: 0, total: undefined },
    }
    book.see({ answers: [listed(at(5), seen('a', 'ended', past))] })
    book.see({ answers: [asked(at(10), seen('a', 'ended', { ...past, end: at(-3000) }))] })
    expect(book.state.calls.get('a')!.finish).toMatchObject({ at: at(-3000), known: at(-5000) })
    expect([...book.state.usage]).toEqual([[quarterHourOf(at(-5000)), 3]])
  })

  test('moves a call together with its recording', () => {
    const { book } = bookOf([
      [1300, 'ended', { ...began, hasRecording: true }],
      [1400, 'ended', { ...began, end: at(1200), hasRecording: true }],
    ])
    expect(book.state.finished.tally(at(1199), at(1201))).toMatchObject([{ isRecorded: true, n: 1 }])
    expect(book.state.finished.tally(0, at(1199))).toEqual([])
  })
})
