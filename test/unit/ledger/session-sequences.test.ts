import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'
import { sessionDaemon as daemon } from '../../kit/ledger/session-daemon.ts'
import { runs } from '../../kit/runs.ts'

type More = Partial<Omit<SeenCall, 'status'>> & { rings?: number; starts?: number; ends?: number }
/** A row of the session `room`; times are seconds after CREATED. */
function row(status: SeenCall['status'], { rings, starts, ends, ...more }: More = {}): SeenCall {
  const at = (t: number | undefined) => (t === undefined ? undefined : CREATED + t)
  return seen('room', status, { initiatedAt: at(rings), startedAt: at(starts), endedAt: at(ends), ...more })
}

type D = ReturnType<typeof daemon>
const check = (d: D, started: number, finished: number, lost = 0) =>
  expect(d.result()).toEqual({ started, finished, lost })

/** A call of a session that no other call has, as its answers show it: at what time, with which fields, by which clock. */
const shownCall = fc.record({
  ringsFor: fc.option(fc.nat(29)),
  lasts: fc.nat(120),
  /** How long after its end it has an `endedAt`. */
  endsAfter: fc.oneof(fc.constant(0), fc.nat(60)),
  /** How far its times are ahead of the service's clock. */
  ahead: fc.oneof(fc.constant(0), fc.nat(3), fc.integer({ min: 600, max: 7200 })),
  mid: fc.option(fc.constant(7)),
  answers: fc.array(
    fc.record({
      /** After the answer before. */
      after: fc.oneof(fc.nat(3), fc.nat(60)),
      /** How far the clock of its `Date` is off. */
      skew: fc.oneof(fc.constant(0), fc.constantFrom(-60, -12, -1, 1, 60)),
      missing: fc.subarray(['initiatedAt', 'mid'] as const),
      asks: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
})

const RINGS = 100

type ShownCall = typeof shownCall extends fc.Arbitrary<infer Call> ? Call : never

/** How a call is shown at a time. */
function shownAt({ ringsFor, lasts, endsAfter, ahead, mid }: ShownCall, at: number) {
  const answered = ringsFor === null ? Infinity : RINGS + ringsFor
  const over = RINGS + (ringsFor ?? 0) + lasts
  const isAnswered = at >= answered
  const end = ringsFor === null ? 'unanswered' : 'ended'
  return row(at >= over ? end : isAnswered ? 'ongoing' : 'initiated', {
    rings: ahead + RINGS,
    ...(isAnswered && { starts: ahead + answered }),
    ...(at >= over + endsAfter && { ends: ahead + over }),
    // Nobody has joined before.
    mid: isAnswered ? (mid ?? undefined) : undefined,
  })
}

describe('one call of a session is counted once', () => {
  test('whatever fields an answer lacks, and whatever its clock says', () => {
    fc.assert(
      fc.property(shownCall, (call) => {
        const d = daemon()
        d.poll(1, [[]])
        let at = RINGS
        for (const { after, skew, missing, asks } of call.answers) {
          at += after
          const shown = { ...shownAt(call, at), ...Object.fromEntries(missing.map((name) => [name, undefined])) }
          if (asks) d.pollAndGet(at + skew, shown)
          else d.poll(at + skew, [[shown]])
        }
        expect(d.result().started).toBe(1)
      }),
      { numRuns: runs(2000) },
    )
  })
  test('that is answered, and has its first time then', () => {
    const d = daemon()
    d.poll(10, [[row('initiated')]])
    d.poll(35, [[row('initiated')]])
    const on = row('ongoing', { starts: 40 })
    d.pollAndGet(45, on)
    d.pollAndGet(55, on)
    check(d, 1, 0)
  })
  test('that is answered, and shows startedAt in place of initiatedAt from then on, with its first mid', () => {
    const d = daemon()
    d.poll(10, [[row('initiated', { rings: 5 })]])
    d.poll(35, [[row('initiated', { rings: 5 })]])
    const on = row('ongoing', { starts: 40, mid: 7 })
    d.pollAndGet(45, on)
    d.pollAndGet(55, on)
    check(d, 1, 0)
  })
  test('that is answered, and shows startedAt in place of initiatedAt from then on', () => {
    const d = daemon()
    d.poll(10, [[row('initiated', { rings: 5, mid: 7 })]])
    d.poll(35, [[row('initiated', { rings: 5, mid: 7 })]])
    const on = row('ongoing', { starts: 40, mid: 7 })
    d.pollAndGet(45, on)
    d.pollAndGet(55, on)
    check(d, 1, 0)
  })
  test('that is over when it shows startedAt in place of initiatedAt', () => {
    const d = daemon()
    d.poll(10, [[row('initiated', { rings: 5 })]])
    const over = row('ended', { starts: 12, ends: 30 })
    d.pollAndGet(40, over)
    d.pollAndGet(55, over)
    check(d, 1, 1)
  })
  test('that was answered and is over when a hint asks for it, and shows startedAt in place of initiatedAt', () => {
    const d = daemon()
    d.poll(12, [[row('initiated', { rings: 10 })]])
    const over = row('ended', { starts: 20, ends: 38 })
    d.get(40, [over])
    d.poll(60, [[over]])
    check(d, 1, 1)
  })
  test('whose startedAt moves when somebody joins', () => {
    const d = daemon()
    d.poll(10, [[row('ongoing', { starts: 5, mid: 1 })]])
    const on = row('ongoing', { starts: 15, mid: 1 })
    d.pollAndGet(20, on)
    d.pollAndGet(30, on)
    check(d, 1, 0)
  })
})

describe('each call of a session is counted', () => {
  const timeout = (t: number) => row('unanswered', { rings: t, ends: t + 45 })
  test.each([
    ['a room', 7],
    ['none', undefined],
  ])('that began while a poll read, which showed the one before only later; the `mid` is that of %s', (_, mid) => {
    const d = daemon()
    const before = row('ended', { starts: -300, ends: -200, mid })
    d.poll(12, [[before]], { takes: 10 })
    d.poll(15, [[row('ongoing', { starts: 5, mid })]], { sweep: false })
    d.poll(30, [[before]])
    d.poll(60, [[row('ended', { starts: 5, ends: 50, mid })]], { sweep: false })
    check(d, 1, 1)
  })
  test('that lasted as long as another one of its room, and was first shown when it was over', () => {
    const d = daemon()
    const calls = [0, 100, 200, 300].map((at) => row('ended', { starts: at, ends: at + 60 + (at % 200) / 5, mid: 7 }))
    for (const [i, one] of calls.entries()) d.poll(100 * i + 90, [[one]], { sweep: false })
    check(d, 4, 4)
  })
  test('that lasted as long as the one before, which the same page shows unchanged', () => {
    const d = daemon()
    const first = row('ended', { starts: 0, ends: 90, mid: 7 })
    d.poll(95, [[first]])
    d.poll(195, [[row('ended', { starts: 100, ends: 190, mid: 7 }), first]])
    check(d, 2, 2)
  })
  test('with another mid than two calls that have that of a room', () => {
    const d = daemon()
    const [first, second] = [0, 100].map((at) => row('ended', { starts: at, ends: at + 90, mid: 7 }))
    d.poll(95, [[first!]])
    d.poll(195, [[second!, first!]])
    // The list shows it three seconds late.
    d.poll(200, [[row('ongoing', { starts: 192, mid: 8 })]], { sweep: false })
    check(d, 3, 2)
  })
  test('that rang in vain for as long as the one before, in its place', () => {
    const d = daemon()
    d.poll(60, [[timeout(0)]])
    d.poll(120, [[timeout(0)]])
    d.poll(660, [[timeout(600)]])
    check(d, 2, 2)
  })
  test('that rang in vain for as long as the one before, which is on a page further back', () => {
    const d = daemon()
    d.poll(60, [[timeout(0)]])
    d.poll(120, [[timeout(0)]])
    d.poll(660, [[timeout(600)]], { sweep: false })
    d.poll(720, [[timeout(600)], [timeout(0)]])
    check(d, 2, 2)
  })
  test('that rang in vain for as long as another new one on the next page', () => {
    const d = daemon()
    d.poll(5, [[]])
    d.poll(10, [[]])
    d.poll(700, [[timeout(600)], [timeout(0)]])
    check(d, 2, 2)
  })
  test('each canceled after three seconds, in the place of the one before', () => {
    const d = daemon()
    for (const [i, t] of [10, 130, 250, 370].entries())
      d.poll(t + 30, [[row('canceled', { rings: t, ends: t + 3 })]], { sweep: i === 0 })
    check(d, 4, 4)
  })
  test('without ends, on two pages', () => {
    const d = daemon()
    d.poll(5, [[]])
    const missed = (rings: number) => row('unanswered', { rings })
    d.poll(700, [[missed(600)], [missed(10)]])
    check(d, 2, 2)
  })
  test('without ends, with the mid of a room, on two pages', () => {
    const d = daemon()
    d.poll(5, [[]])
    const over = (starts: number) => row('ended', { starts, mid: 1 })
    d.poll(700, [[over(600)], [over(10)]])
    check(d, 2, 2)
  })
  test('that is listed once it is over, and began before the last sweep', () => {
    const d = daemon()
    const first = row('ended', { starts: 0, ends: 180 })
    d.poll(190, [[first]])
    d.poll(700, [[first]])
    d.poll(910, [[row('ended', { starts: 600, ends: 905 })]])
    check(d, 2, 2)
  })
  test('that is listed once it is over, before the last sweep, beside the one before', () => {
    const d = daemon()
    const first = row('ended', { starts: 0, ends: 180 })
    const second = row('ended', { starts: 600, ends: 905 })
    d.poll(190, [[first]])
    d.poll(700, [[first]])
    d.poll(910, [[second]], { sweep: false })
    d.poll(1000, [[second], [first]])
    check(d, 2, 2)
  })
  test('that replaces an open one in a list that lags', () => {
    const d = daemon()
    d.poll(10, [[row('ongoing', { starts: 0 })]])
    d.poll(100, [[row('ongoing', { starts: 0 })]])
    d.poll(110, [[row('ongoing', { starts: 95 })]])
    check(d, 2, 0)
  })
  test('with another mid, listed without times at first, in the place of the one before', () => {
    const d = daemon()
    const first = row('ended', { starts: 0, ends: 180, mid: 1 })
    d.poll(190, [[first]])
    d.poll(300, [[first]])
    d.poll(610, [[row('initiated', { mid: 2 })]])
    d.poll(620, [[row('ongoing', { starts: 615, mid: 2 })]])
    d.poll(800, [[row('ended', { starts: 615, ends: 790, mid: 2 })]])
    check(d, 2, 2)
  })
  test('with another mid, listed without times at first, beside the one before', () => {
    const d = daemon()
    const first = row('ended', { starts: 0, ends: 180, mid: 1 })
    d.poll(190, [[first]])
    d.poll(300, [[first]])
    d.poll(610, [[row('initiated', { mid: 2 }), first]])
    d.poll(620, [[row('ongoing', { starts: 615, mid: 2 }), first]])
    d.poll(800, [[row('ended', { starts: 615, ends: 790, mid: 2 }), first]])
    check(d, 2, 2)
  })
  test('without starts, with other mids, on one page', () => {
    const d = daemon()
    d.poll(5, [[]])
    d.poll(800, [[row('ended', { ends: 720, mid: 2 }), row('ended', { ends: 180, mid: 1 })]])
    check(d, 2, 2)
  })
  test('that begins to ring when the one before was answered', () => {
    const d = daemon()
    const first = row('ended', { rings: 10, starts: 40, ends: 40, mid: 1 })
    d.poll(41, [[first]])
    d.poll(45, [[row('initiated', { rings: 41 }), first]])
    d.poll(60, [[row('ended', { rings: 41, starts: 50, ends: 58, mid: 2 }), first]])
    check(d, 2, 2)
  })
  test('that begins within five seconds of one that is over', () => {
    const d = daemon()
    d.poll(13, [[row('canceled', { rings: 10, ends: 12 })]])
    d.poll(23, [[row('initiated', { rings: 14 })]])
    d.poll(60, [[row('unanswered', { rings: 14, ends: 59 })]])
    check(d, 2, 2)
  })
  test('that begins three seconds after the Date of the answer', () => {
    const d = daemon()
    const first = row('unanswered', { rings: 10, ends: 55 })
    d.poll(60, [[first]])
    d.poll(98, [[row('initiated', { rings: 100 })]])
    d.poll(108, [[row('initiated', { rings: 100 })]])
    d.poll(160, [[row('unanswered', { rings: 100, ends: 140 })]])
    check(d, 2, 2)
  })
  test('each with an end alone, in the place of the one before', () => {
    const d = daemon()
    for (const ends of [100, 300, 500, 700]) d.poll(ends + 5, [[row('ended', { ends })]])
    check(d, 4, 4)
  })
  test('of which the open one ends in a row without times', () => {
    const d = daemon()
    const first = row('unanswered', { rings: 0, ends: 45 })
    d.poll(50, [[first]])
    d.poll(110, [[row('initiated', { rings: 105 }), first]])
    d.poll(120, [[row('rejected')]])
    expect([...d.state.open.values()].length).toBe(0)
    check(d, 2, 2)
  })
  test('that replaces an open one after an answer with a wrong Date', () => {
    const d = daemon()
    d.poll(10, [[row('ongoing', { starts: 0 })]])
    d.poll(1820, [[row('ongoing', { starts: 0 })]], { sweep: false })
    d.poll(30, [[row('ongoing', { starts: 0 })]])
    d.poll(300, [[row('ongoing', { starts: 290 })]])
    check(d, 2, 0)
  })
  test('with the mid of a room, each hour, after a failed poll and a restart', () => {
    const d = daemon()
    const m = (s: number, e?: number) =>
      row(e === undefined ? 'ongoing' : 'ended', { starts: s, mid: 1, ...(e !== undefined && { ends: e }) })
    d.poll(10, [[m(0)]])
    d.crash()
    d.poll(8000, [[m(7200)], [m(3600, 3700)]], { ok: false })
    d.crash()
    d.poll(8010, [[m(7200)], [m(3600, 3700)], [m(0, 180)]])
    check(d, 3, 2)
  })
  test('with another mid, whose first time is before the poll that showed it without one', () => {
    const d = daemon()
    const first = row('ended', { starts: 0, ends: 180, mid: 1 })
    d.poll(190, [[first]])
    d.poll(300, [[first]])
    for (const t of [610, 620]) d.poll(t, [[row('initiated', { mid: 2 })]])
    d.poll(630, [[row('ongoing', { starts: 605, mid: 2 })]])
    d.poll(800, [[row('ended', { starts: 605, ends: 790, mid: 2 })]])
    check(d, 2, 2)
  })
})
