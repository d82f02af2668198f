import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callOf, valuesOf } from '../../../src/store/call-columns.ts'
import { MODES, RECEIVER_TYPES, TYPES, type SeenCall } from '../../../src/ledger/call.ts'
import { COUNTERS, HISTOGRAMS } from '../../../src/ledger/series.ts'
import type { LedgerState } from '../../../src/ledger/state.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { CREATED, contents, KNOWN_LIST, ledgerBook, listed, seen, total } from '../../kit/ledger/seen.ts'
import { runs } from '../../kit/runs.ts'

/** A call's whole life; times are seconds after the set-up, minutes are what is counted at its end. */
type Life = {
  began: number
  answered: number | undefined
  length: number
  end: 'ended' | 'unanswered' | 'rejected' | 'canceled'
  labels: Pick<SeenCall, 'type' | 'mode' | 'receiverType'>
  minutes: [number, number, number, number]
  participants: number
  recorded: boolean
}

const HORIZON = 3000

const wholeMinutes = fc.integer({ min: 0, max: 500 })

const life: fc.Arbitrary<Life> = fc.record({
  began: fc.integer({ min: -500, max: 1000 }),
  answered: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  length: fc.integer({ min: 1, max: 800 }),
  end: fc.constantFrom('ended', 'unanswered', 'rejected', 'canceled'),
  labels: fc.record({
    type: fc.constantFrom(...TYPES),
    mode: fc.constantFrom(...MODES),
    receiverType: fc.constantFrom(...RECEIVER_TYPES),
  }),
  minutes: fc.tuple(wholeMinutes, wholeMinutes, wholeMinutes, wholeMinutes),
  participants: fc.integer({ min: 1, max: 50 }),
  recorded: fc.boolean(),
})

/** What the service would show of a call at a moment; undefined before it begins. */
function shownAt(
  id: string,
  { began, answered, length, end, labels, minutes, participants, recorded }: Life,
  at: number,
): SeenCall | undefined {
  if (at < began) return undefined
  const startedAt = end === 'ended' ? began + (answered ?? 0) : undefined
  const endedAt = (startedAt ?? began) + length
  const isOver = at >= endedAt
  const grown = isOver ? 1 : (at - began) / (endedAt - began)
  // Sixteenths add up without rounding, whichever way they are added.
  const [callAudio, callVideo, audio, video] = minutes.map((value) => Math.floor(value * grown * 16) / 16)
  return seen(id, isOver ? end : startedAt !== undefined && at >= startedAt ? 'ongoing' : 'initiated', {
    ...labels,
    initiatedAt: CREATED + began,
    startedAt: startedAt !== undefined && at >= startedAt ? CREATED + startedAt : undefined,
    endedAt: isOver ? CREATED + endedAt : undefined,
    callMinutes: { audio: callAudio, video: callVideo, total: undefined },
    participantMinutes: { audio, video, total: undefined },
    totalParticipants: participants,
    hasRecording: recorded && isOver,
  })
}

/** How a poll goes: when, which calls it misses, in which order it lists them, and whether twice. */
const poll = fc.record({
  after: fc.integer({ min: 1, max: 300 }),
  misses: fc.integer({ min: 0, max: 3 }),
  turn: fc.nat(),
  twice: fc.boolean(),
  restart: fc.boolean(),
  /** Calls in one observation. */
  part: fc.integer({ min: 1, max: 10 }),
})
type PollPlan = typeof poll extends fc.Arbitrary<infer T> ? T : never

const world = fc.record({ lives: fc.array(life, { maxLength: 12 }), polls: fc.array(poll, { maxLength: 15 }) })

/** Polls the world as planned, and in the end once more, completely, when all calls are final. */
function play(lives: readonly Life[], polls: readonly PollPlan[]) {
  let book = ledgerBook({ lookback: HORIZON, details: 'never' })
  let now = 0
  const end: PollPlan = { after: HORIZON, misses: 0, turn: 0, twice: false, restart: false, part: 100 }
  for (const [i, { after, misses, turn, twice, restart, part }] of [...polls, end].entries()) {
    now = i === polls.length ? Math.max(now, 1900) + 1 : now + after
    const shown = lives.flatMap((one, n) => shownAt(`call ${n}`, one, now) ?? [])
    const turned = [...shown.slice(turn % (shown.length + 1)), ...shown.slice(0, turn % (shown.length + 1))]
    const kept = turned.filter((_call, n) => misses === 0 || n % 4 !== misses)
    const all = twice ? [...kept, ...kept] : kept
    for (let from = 0; from < all.length; from += part) {
      book.see({ answers: [listed(CREATED + now, ...all.slice(from, from + part))] })
    }
    if (misses === 0) {
      const ids = new Set(shown.map(({ id }) => id))
      const at = CREATED + now
      book.see({
        answers: [],
        success: {
          endsSweep: true,
          beganServiceTime: at,
          beganHostTime: at,
          serviceTime: at,
          hostTime: at,
          listed: ids,
          list: KNOWN_LIST,
        },
      })
    }
    if (restart) book = restarted(book)
  }
  return book
}

/** The ledger as it is loaded from its rows. */
function restarted(book: ReturnType<typeof ledgerBook>): ReturnType<typeof ledgerBook> {
  const asRow = (call: TrackedCall) => callOf(valuesOf(call))
  for (const call of book.state.calls.values()) book.state.calls.set(asRow(call))
  for (const call of book.state.open.values()) book.state.open.set(call.id, asRow(call))
  return book
}

/** The calls that must have been counted: all but those that were final before the set-up. */
function counted(lives: readonly Life[]) {
  const ends = lives.map((one, n) => shownAt(`call ${n}`, one, 10_000)!)
  return ends.filter(({ endedAt }) => endedAt! >= CREATED)
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const observed = (state: LedgerState, histogram: keyof typeof HISTOGRAMS, part: 'count' | 'sum') =>
  total(state, HISTOGRAMS[histogram], (key) => key.endsWith('|sum') === (part === 'sum'))

describe('for any calls and any polls', () => {
  const check = (holds: (book: ReturnType<typeof ledgerBook>, calls: SeenCall[]) => void) =>
    fc.assert(
      fc.property(world, ({ lives, polls }) => holds(play(lives, polls), counted(lives))),
      { numRuns: runs(400) },
    )

  test('every call is started once and finished once, under its labels and its status', () => {
    check((book, calls) => {
      expect([book.started(), book.finished()]).toEqual([calls.length, calls.length])
      for (const { type, mode, receiverType, status } of calls) {
        const same = calls.filter(
          (other) => other.type === type && other.mode === mode && other.receiverType === receiverType,
        )
        expect(book.counted(COUNTERS.started, type!, mode!, receiverType!)).toBe(same.length)
        const ended = same.filter((other) => other.status === status).length
        expect(book.counted(COUNTERS.finished, type!, mode!, receiverType!, status)).toBe(ended)
      }
      expect(book.state.open.size).toBe(0)
    })
  })

  test('minutes are as last served, without corrections', () => {
    check((book, calls) => {
      const served = sum(calls.map(({ callMinutes }) => callMinutes.audio! + callMinutes.video!))
      expect(total(book.state, COUNTERS.callMinutes)).toBe(served)
      for (const media of ['audio', 'video'] as const) {
        const summed = sum(calls.map(({ participantMinutes }) => participantMinutes[media]!))
        expect(book.counted(COUNTERS.participantMinutes, media)).toBe(summed)
      }
      expect(total(book.state, COUNTERS.corrections)).toBe(0)
    })
  })

  test('histograms observe each call once', () => {
    check(({ state }, calls) => {
      const ended = calls.filter(({ status }) => status === 'ended')
      expect(observed(state, 'duration', 'count')).toBe(ended.length)
      expect(observed(state, 'duration', 'sum')).toBe(sum(ended.map(({ startedAt, endedAt }) => endedAt! - startedAt!)))
      expect(observed(state, 'answerDelay', 'count')).toBe(ended.length)
      expect(observed(state, 'participants', 'sum')).toBe(sum(calls.map(({ totalParticipants }) => totalParticipants!)))
      expect(total(state, COUNTERS.recorded)).toBe(calls.filter(({ hasRecording }) => hasRecording).length)
    })
  })
})

test('a poll in several observations counts the same as in one', () => {
  const unsplit = world.map(({ lives, polls }) => ({ lives, polls: polls.map((plan) => ({ ...plan, part: 100 })) }))
  fc.assert(
    fc.property(unsplit, fc.integer({ min: 1, max: 3 }), ({ lives, polls }, part) => {
      const split = polls.map((plan) => ({ ...plan, part }))
      const [one, two] = [play(lives, polls), play(lives, split)]
      expect(two.state.counters).toEqual(one.state.counters)
      expect(contents(two.state).calls).toEqual(contents(one.state).calls)
    }),
    { numRuns: runs(300) },
  )
})

test('started + reappeared = finished + lost + open, whatever calls do', () => {
  const wild = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    status: fc.constantFrom('initiated', 'ongoing', 'ended', 'rejected', 'other', 'not found'),
    endedAt: fc.option(fc.integer({ min: CREATED, max: CREATED + 50 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(wild, { maxLength: 40 }), (changes) => {
      const book = ledgerBook()
      for (const [i, { id, status, endedAt }] of changes.entries()) {
        const now = CREATED + i
        const answer = listed(now)
        if (status === 'not found') answer.notFound.push(id)
        else answer.calls.push(seen(id, status, { endedAt }))
        book.see({ answers: [answer] })
        const { started, reappeared, finished, lost, state } = book
        expect(started() + reappeared()).toBe(finished() + lost() + state.open.size)
      }
    }),
    { numRuns: runs(500) },
  )
})
