import { expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { completePoll, CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'

const VIDEO_CALL = ['video', 'call', 'user']
/** Seconds after 08:00:00. */
const at = (seconds: number) => CREATED + seconds
const RINGS = { type: 'video', initiatedAt: at(3) } as const
const TALKS = { ...RINGS, startedAt: at(9), totalParticipants: 2 }
const ENDED = { ...TALKS, endedAt: at(260) }
const video = (minutes: number) => ({ callMinutes: { audio: undefined, video: minutes, total: undefined } })

/** What a ledger has counted after these polls of the call of docs/semantics.md, The life of a call. */
function countedAfter(...polls: [seconds: number, status: SeenCall['status'], more: Partial<SeenCall>][]) {
  const book = ledgerBook()
  for (const [seconds, status, more] of polls) book.see(completePoll(seconds, seen('a', status, more)))
  const sumOf = (name: string, ...labels: string[]) => book.counted({ ...COUNTERS.started, name }, ...labels, 'sum')
  const minutes = book.counted(COUNTERS.callMinutes, ...VIDEO_CALL, 'video')
  const corrected = book.counted(COUNTERS.corrections, 'video', 'call')
  return {
    started: book.counted(COUNTERS.started, ...VIDEO_CALL),
    ended: book.counted(COUNTERS.finished, ...VIDEO_CALL, 'ended'),
    minutes,
    corrected,
    duration: sumOf('callwatch_call_duration_seconds', ...VIDEO_CALL),
    answerDelay: sumOf('callwatch_call_answer_delay_seconds', 'video', 'user'),
    inferred: book.counted(COUNTERS.transitions, 'ongoing', 'ended', 'false'),
  }
}

const NOTHING = { started: 1, ended: 0, minutes: 0, corrected: 0, duration: 0, answerDelay: 0, inferred: 0 }
const OVER = { ...NOTHING, ended: 1, minutes: 5, duration: 251, answerDelay: 6 }

test('a call counts at each poll as semantics.md tells its life', () => {
  const life: Parameters<typeof countedAfter> = [
    [15, 'initiated', RINGS],
    [30, 'ongoing', TALKS],
    [195, 'ongoing', { ...TALKS, ...video(3) }],
    [270, 'ended', { ...ENDED, ...video(5) }],
    [900, 'ended', { ...ENDED, ...video(4) }],
  ]
  const counted = life.map((_, index) => countedAfter(...life.slice(0, index + 1)))
  expect(counted).toEqual([NOTHING, NOTHING, { ...NOTHING, minutes: 3 }, OVER, { ...OVER, corrected: 1 }])
})

test('a call of a time in which callwatch was down counts the same, with inferred transitions', () => {
  expect(countedAfter([900, 'ended', { ...ENDED, ...video(5) }])).toEqual({ ...OVER, inferred: 1 })
})
