import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FinalStatus } from '../../../src/ledger/call.ts'
import {
  countByStatus,
  keptFinishes,
  changeAll,
  withFinishes,
  type FinishedCall,
  type FinishedCalls,
  type ChangedFinish,
} from '../../../src/ledger/finished-calls.ts'
import { finishAt } from '../../kit/alerts/sample-rules.ts'
import { anyFinish } from './any-call.ts'
import { runs } from '../../kit/runs.ts'

const START = 1_789_999_980
const MINUTE = 60
const LENGTH = 12 * MINUTE

/** Moments within a few minutes: whole seconds, ends of minutes, just before and after these, and any other. */
const moment = fc
  .oneof(
    fc.nat(LENGTH),
    fc.nat(LENGTH / MINUTE).map((minute) => minute * MINUTE),
    fc
      .tuple(fc.nat(LENGTH / MINUTE), fc.constantFrom(-0.001, 0.001, 59.999))
      .map(([minute, by]) => minute * MINUTE + by),
    fc.double({ min: 0, max: LENGTH, noNaN: true }),
  )
  .map((seconds) => START + seconds)
const finish: fc.Arbitrary<FinishedCall> = fc
  .tuple(anyFinish, moment)
  .map(([{ known: _known, knownHostTime: _host, ...any }, at]) => ({ ...any, at }))
const finishes = fc.array(finish, { maxLength: 50, size: 'max' })
const edge = fc.oneof({ weight: 10, arbitrary: moment }, fc.constantFrom(-Infinity, START - 1e6, START + 1e6, Infinity))
const windows = fc.array(fc.tuple(edge, edge), { minLength: 1, maxLength: 10 })

/** The calls in a window, found in the simplest way. */
function naive(calls: readonly FinishedCall[], from: number, to: number): FinishedCall[] {
  return calls.filter(({ at }) => at >= from && at <= to).toSorted((a, b) => a.at - b.at)
}

/** Calls that finished at one time may have any order. */
const spelled = ({ at, began, answerDelay, duration, audio, video, status, labels }: FinishedCall) =>
  JSON.stringify([at, began, answerDelay, duration, audio, video, status, labels])

/** How many calls finished, by status and labels. */
function byKind(tallies: readonly (Pick<FinishedCall, 'status' | 'labels'> & { n?: number })[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { status, labels, n = 1 } of tallies) {
    const key = [status, labels.type, labels.mode, labels.receiverType].join(' ')
    counts.set(key, (counts.get(key) ?? 0) + n)
    if (counts.get(key) === 0) counts.delete(key)
  }
  return counts
}

/** Each window has what the simplest way finds in the list. */
function expectSame(
  finished: FinishedCalls,
  calls: readonly FinishedCall[],
  windows: readonly (readonly [number, number])[],
): void {
  for (const [from, to] of windows) {
    const expected = naive(calls, from, to)
    const found = finished.between(from, to)
    expect(found.map(({ at }) => at)).toEqual(expected.map(({ at }) => at))
    expect(found.map(spelled).toSorted()).toEqual(expected.map(spelled).toSorted())
    expect(byKind(finished.tally(from, to))).toEqual(byKind(expected))
  }
}

describe('finished calls, added in any order,', () => {
  test('are found in any window as in a sorted list', () => {
    fc.assert(
      fc.property(finishes, windows, (calls, ranges) => expectSame(keptFinishes(calls), calls, ranges)),
      { numRuns: runs(500) },
    )
  })

  test('are found together with others that were not added, and do not change', () => {
    fc.assert(
      fc.property(finishes, finishes, windows, (calls, added, ranges) => {
        const kept = keptFinishes(calls)
        const view = withFinishes(kept, added, [])
        expectSame(view, [...calls, ...added], ranges)
        expectSame(withFinishes(view, calls, []), [...calls, ...added, ...calls], ranges)
        expectSame(kept, calls, ranges)
      }),
      { numRuns: runs(300) },
    )
  })

  test('stay, whatever is dropped and added, except those of dropped minutes', () => {
    const changes = fc.array(fc.oneof({ weight: 6, arbitrary: finish }, edge), { maxLength: 80, size: 'max' })
    let dropped = 0
    fc.assert(
      fc.property(changes, windows, (done, ranges) => {
        const kept = keptFinishes()
        let calls: FinishedCall[] = []
        for (const change of done) {
          if (typeof change !== 'number') {
            kept.add(change)
            calls.push(change)
            continue
          }
          kept.dropBefore(change)
          const before = calls.length
          calls = calls.filter(({ at }) => Math.floor(at / MINUTE) * MINUTE + MINUTE > change)
          dropped += before - calls.length
        }
        expectSame(kept, calls, [...ranges, [-Infinity, Infinity]])
      }),
      { numRuns: runs(500) },
    )
    expect(dropped).toBeGreaterThan(1000)
  })

  test('have their new values once these were seen, whether that was applied or not, and others keep theirs', () => {
    const { known: _known, knownHostTime: _host, ...same } = finishAt(START + 90)
    // Some calls are the same in all values.
    const changing = fc.record({
      call: fc.oneof(finish, fc.constant(same)),
      movedTo: fc.option(moment),
      wasRecorded: fc.boolean(),
      isRecorded: fc.boolean(),
    })
    const some = fc.array(changing, { maxLength: 40, size: 'max' })
    type Some = typeof some extends fc.Arbitrary<infer Value> ? Value : never
    const callsOf = (some: Some) => some.map(({ call }) => call)
    const afterOf = ({ call, movedTo }: Some[number]) => ({ ...call, at: movedTo ?? call.at })
    const changesOf = (some: Some): ChangedFinish[] =>
      some
        .filter(({ movedTo, wasRecorded, isRecorded }) => movedTo !== null || wasRecorded !== isRecorded)
        .map((one) => ({
          before: { ...one.call, isRecorded: one.wasRecorded },
          after: { ...afterOf(one), isRecorded: one.isRecorded },
        }))
    const recordings = (finished: FinishedCalls, from: number, to: number) =>
      byKind(finished.tally(from, to).filter(({ isRecorded }) => isRecorded))
    fc.assert(
      fc.property(some, some, some, windows, (before, late, fresh, ranges) => {
        // No recording of a call is seen before it is added.
        const added = fresh.map((one) => ({ ...one, wasRecorded: false }))
        const all = [...before, ...late, ...added]
        const kept = keptFinishes()
        for (const { call, wasRecorded } of [...before, ...late]) kept.add(call, wasRecorded)
        changeAll(kept, changesOf(before))
        const unmade = changesOf([...late, ...added])
        const view = withFinishes(kept, callsOf(added), unmade)
        const recorded = all.filter(({ isRecorded }) => isRecorded).map(afterOf)
        const seen = ranges.map(([from, to]) => byKind(naive(recorded, from, to)))
        expectSame(view, all.map(afterOf), ranges)
        expect(ranges.map(([from, to]) => recordings(view, from, to))).toEqual(seen)
        for (const call of callsOf(added)) kept.add(call)
        changeAll(kept, unmade)
        expectSame(kept, all.map(afterOf), ranges)
        expect(ranges.map(([from, to]) => recordings(kept, from, to))).toEqual(seen)
      }),
      { numRuns: runs(300) },
    )
  })

  test('stay if they finished since the moment of a drop, and are gone a minute before it', () => {
    fc.assert(
      fc.property(finishes, moment, (calls, time) => {
        const kept = keptFinishes(calls)
        kept.dropBefore(time)
        expect(kept.between(time, Infinity)).toStrictEqual(naive(calls, time, Infinity))
        expect(byKind(kept.tally(time, Infinity))).toEqual(byKind(naive(calls, time, Infinity)))
        expect(kept.between(-Infinity, time - MINUTE)).toEqual([])
        expect(kept.tally(-Infinity, time - MINUTE)).toEqual([])
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('a window of finished calls', () => {
  const counted = (finished: FinishedCalls, from: number, to: number) => [
    finished.between(from, to).length,
    countByStatus(finished.tally(from, to)).total,
  ]

  test.each([
    ['within a minute', 10, 50],
    ['of exactly a minute', 0, MINUTE],
    ['of several minutes, which ends with one', 30, 5 * MINUTE],
    ['of several minutes, which begins with one', 0, 5 * MINUTE + 30],
    ['of no length', 42, 42],
    ['of no length between two minutes', MINUTE, MINUTE],
  ])('%s includes both ends, and nothing beyond', (_what, from, to) => {
    for (const [at, n] of [
      [from - 0.001, 0],
      [from, 1],
      [(from + to) / 2, 1],
      [to, 1],
      [to + 0.001, 0],
    ] as const) {
      expect(counted(keptFinishes([finishAt(START + at)]), START + from, START + to)).toEqual([n, n])
    }
  })

  test('is empty if it ends before it begins, or no call finished in it', () => {
    const kept = keptFinishes([finishAt(START), finishAt(START + 300)])
    expect(counted(kept, START + 300, START)).toEqual([0, 0])
    expect(counted(kept, START + 1, START + 299)).toEqual([0, 0])
    expect(counted(keptFinishes(), -Infinity, Infinity)).toEqual([0, 0])
  })

  test('of many minutes has one tally for each status, and for those with a recording', () => {
    const kept = keptFinishes()
    for (let n = 0; n < 600; n++) kept.add(finishAt(START + n, n % 3 === 0 ? 'rejected' : 'ended'), n % 3 === 0)
    const { labels } = finishAt(0)
    const byStatus = (a: { status: FinalStatus }, b: { status: FinalStatus }) => (a.status < b.status ? -1 : 1)
    expect(kept.tally(START, START + 599).toSorted(byStatus)).toEqual([
      { status: 'ended', labels, isRecorded: false, n: 400 },
      { status: 'rejected', labels, isRecorded: true, n: 200 },
    ])
    expect(countByStatus(kept.tally(START + 30, START + 569))).toMatchObject({ ended: 360, rejected: 180, total: 540 })
  })
})

test('finished calls without others beside them are the same object', () => {
  const kept = keptFinishes([finishAt(10), finishAt(20)])
  expect(withFinishes(kept, [], [])).toBe(kept)
})

test('finished calls are counted by status', () => {
  const finishes = [
    finishAt(9),
    finishAt(10, 'rejected'),
    finishAt(15, 'other'),
    finishAt(20),
    finishAt(21, 'rejected'),
  ]
  expect(countByStatus(keptFinishes(finishes).tally(10, 20))).toEqual({
    ended: 1,
    unanswered: 0,
    rejected: 1,
    canceled: 0,
    other: 1,
    total: 3,
  })
})

test('a finished call with a time decades away does not make windows slow', () => {
  const ages = [0, 1_790_000_000, 253_402_300_799].map((at) => finishAt(at))
  const kept = keptFinishes(ages)
  const begun = performance.now()
  expect(kept.between(-Infinity, Infinity).map(({ at }) => at)).toEqual(ages.map(({ at }) => at))
  expect(kept.tally(1, Infinity).reduce((sum, { n }) => sum + n, 0)).toBe(2)
  // Minute by minute, it would take hours.
  expect(performance.now() - begun).toBeLessThan(20_000)
})
