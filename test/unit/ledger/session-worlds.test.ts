import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countWorld, type SessionWorld, type WorldCall } from '../../kit/ledger/session-world.ts'
import { runs } from '../../kit/runs.ts'

const meeting = (begins: number, lasts: number): WorldCall => ({ begins, rings: 0, lasts, hasFailed: false })
const failing = (begins: number, lasts: number): WorldCall => ({ begins, rings: 0, lasts, hasFailed: true })
const answered = (begins: number, rings: number, lasts: number): WorldCall => ({
  begins,
  rings,
  lasts,
  hasFailed: false,
})

/** Seven meetings of a room, in an hour. */
const ROOM = [0, 500, 900, 1400, 2000, 2700, 3300].map((begins, i) => meeting(100 + begins, 60 + 41 * i))
const every = (seconds: number, until = 4200) =>
  Array.from({ length: Math.ceil(until / seconds) }, (_, i) => ({ at: (i + 1) * seconds }))
const PLAIN: SessionWorld = {
  calls: ROOM,
  form: 'A',
  mids: 'own',
  times: 'both',
  getCall: 'newest',
  pageSize: 50,
  order: 'newest',
  polls: every(15),
}

/** Seen first when all is over; live; seldom; after restarts; amid polls that fail. */
const OBSERVED: Record<string, SessionWorld['polls']> = {
  'at the first start': [{ at: 4200 }, { at: 4215 }, { at: 4230 }],
  live: every(15),
  'every ten minutes': every(600, 4800),
  'with restarts': every(15).map(({ at }) => ({ at, isRestart: at % 120 === 0 })),
  'with polls that fail': every(15).map(({ at }) => ({ at, fails: at % 45 !== 0 })),
}

const worlds: Record<string, Partial<SessionWorld>> = {
  'a room that keeps its initiatedAt': { times: 'kept' },
  'a room that keeps its initiatedAt, without mids': { times: 'kept', mids: 'none' },
  'a room with mids of its meetings': {},
  'a room with one mid': { mids: 'room' },
  'a room with one mid, and a page for each row': { mids: 'room', pageSize: 1 },
  'a room with one mid, the oldest first': { mids: 'room', order: 'oldest', pageSize: 2 },
  'a room without mids': { mids: 'none' },
  'a room with mids that come late': { mids: 'late' },
  'a room of which half of the rows have mids': { mids: 'half' },
  'a room whose meetings are listed when they are over': { form: 'over', mids: 'none' },
  'a robot that rings each quarter of an hour': {
    calls: Array.from({ length: 5 }, (_, i) => failing(100 + 900 * i, 45)),
    polls: every(15, 4800),
  },
  'two devices that begin a meeting in the same second': {
    calls: [meeting(100, 300), meeting(100, 420), meeting(900, 200), meeting(900, 70)],
  },
  'two devices that begin a meeting in the same second, with mids that come late': {
    mids: 'late',
    calls: [meeting(100, 300), meeting(100, 420), meeting(900, 200), meeting(900, 70)],
  },
  'redials of a second': { calls: [100, 103, 107, 130].map((begins) => failing(begins, 1)) },
  'a redial after a minute': { calls: [failing(100, 45), answered(205, 12, 300)] },
  'ringing calls of one session': { calls: [100, 500, 900, 1300].map((begins, i) => answered(begins, 20, 60 + 7 * i)) },
  'ringing calls that show startedAt in place of initiatedAt': {
    times: 'replaced',
    calls: [100, 500, 900, 1300].map((begins, i) => answered(begins, 20, 60 + 7 * i)),
  },
  'ringing calls that show startedAt alone, without mids': {
    times: 'startedAt',
    mids: 'none',
    calls: [100, 500, 900, 1300].map((begins, i) => answered(begins, 20, 60 + 7 * i)),
  },
}

describe.each(Object.entries(OBSERVED))('polled %s, each call counts', (_how, polls) => {
  test.each(Object.entries(worlds))('of %s', (_name, world) => {
    const { counted, truth } = countWorld({ ...PLAIN, ...world, polls })
    expect(counted).toEqual(truth)
  })
})

describe('if each row replaces the one before, each call counts that a poll could see', () => {
  test.each([
    ['with mids', {}],
    ['with one mid', { mids: 'room' }],
    ['with one mid, of which the ends are missed', { mids: 'room', polls: every(600, 4800) }],
    ['without mids', { mids: 'none' }],
    ['that keeps its initiatedAt', { times: 'kept' }],
    [
      'of a robot that rings each quarter of an hour',
      { calls: Array.from({ length: 5 }, (_, i) => failing(100 + 900 * i, 45)) },
    ],
    [
      'of redials of a second, each alone',
      { calls: [100, 103, 107, 130].map((begins) => failing(begins, 1)), polls: every(1, 200) },
    ],
    [
      'with a ringing call that got stuck, and a meeting the next day',
      { calls: [failing(100, 1e6), meeting(86_500, 300)], mids: 'none', polls: every(600, 90_000) },
    ],
    ['with Get Call of the newest alone', { getCall: 'newest', polls: every(330, 4800) }],
  ] satisfies [string, Partial<SessionWorld>][])('%s', (_name, world) => {
    const { counted, truth } = countWorld({ ...PLAIN, form: 'B', ...world })
    expect(counted).toEqual(truth)
  })
})

/** Calls one after the other. */
const drawnCalls = fc
  .array(
    fc.record({
      gap: fc.oneof(
        fc.integer({ min: 2, max: 30 }),
        fc.integer({ min: 2, max: 60 }),
        fc.integer({ min: 60, max: 3000 }),
      ),
      rings: fc.integer({ min: 2, max: 45 }),
      lasts: fc.oneof(fc.integer({ min: 1, max: 45 }), fc.integer({ min: 30, max: 2000 })),
      kind: fc.constantFrom('meeting', 'answered', 'failed'),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) => {
    let end = 50
    return drawn.map(({ gap, rings, lasts, kind }, i): WorldCall => {
      const begins = end + gap
      // Another length for each, so that minutes show which row was taken for which call.
      const length = lasts + i / 16
      end = Math.ceil(begins + (kind === 'answered' ? rings : 0) + length)
      if (kind === 'failed') return failing(begins, Math.ceil(length))
      return kind === 'answered' ? answered(begins, rings, length) : meeting(begins, length)
    })
  })

const drawnWorld = fc
  .record({
    calls: drawnCalls,
    form: fc.constantFrom('A', 'over'),
    mids: fc.constantFrom('own', 'late', 'none', 'room', 'half'),
    times: fc.constantFrom('both', 'kept', 'startedAt', 'replaced'),
    getCall: fc.constantFrom('newest', 'all'),
    hasFailedEnds: fc.boolean(),
    pageSize: fc.constantFrom(1, 1, 2, 5, 100),
    order: fc.constantFrom('newest', 'oldest'),
    every: fc.constantFrom(5, 15, 45, 120, 900),
    restarts: fc.integer({ min: 2, max: 9 }),
    failures: fc.integer({ min: 2, max: 9 }),
  } satisfies Record<string, fc.Arbitrary<unknown>>)
  .map(({ every: seconds, restarts, failures, calls, ...rest }): SessionWorld => {
    const last = calls.at(-1)!
    const end = last.begins + last.rings + last.lasts
    // Of a room that keeps its `initiatedAt`, nothing tells a call that failed, or rings, from another one.
    const decidable = rest.times === 'kept' ? calls.map((call) => ({ ...call, rings: 0, hasFailed: false })) : calls
    const polls = every(seconds, end + 2 * seconds).map(({ at }, i) => ({
      at,
      isRestart: i % restarts === 0,
      fails: i % failures === 0,
    }))
    return { ...rest, calls: decidable, polls: [...polls, { at: end + 5000 }, { at: end + 5015 }] }
  })

test('each call of a drawn world counts with its own minutes', () => {
  fc.assert(
    fc.property(drawnWorld, (world) => {
      const { counted, truth } = countWorld(world)
      expect(counted).toEqual(truth)
    }),
    { numRuns: runs(500) },
  )
})
