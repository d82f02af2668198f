import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RECORD_BYTES, trackedCalls, type TrackedCalls } from '../../../src/ledger/tracked-calls.ts'
import { ownTime } from '../../../src/ledger/call.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { anyCharacter } from '../../kit/any-character.ts'
import { openSince } from '../alerts/sample-calls.ts'
import { anyCall } from './any-call.ts'
import { runs } from '../../kit/runs.ts'

/** Calls in one block of memory. */
const BLOCK = 64

/** A call with that id, different for each number. */
const numbered = (id: string, number: number): TrackedCall => openSince(number, { id, marks: number % 4096 })

function expectSame(calls: TrackedCalls, model: ReadonlyMap<string, TrackedCall>): void {
  const values = [...calls.values()]
  expect([calls.size, values.length]).toEqual([model.size, model.size])
  expect(new Map(values.map((call) => [call.id, call]))).toStrictEqual(model)
  const got = Array.from(model.keys(), (id) => [id, calls.get(id)!] as const)
  expect(new Map(got)).toStrictEqual(model)
}

/** An operation on one of a few ids, so that they are deleted and set again. */
const change = fc.record({ kind: fc.constantFrom('set', 'set', 'delete', 'get'), which: fc.nat(), call: anyCall })
const ids = fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 400, size: 'max' }), {
  minLength: 1,
  maxLength: 8,
})

test('tracked calls behave like a Map, whatever is set, deleted and read', () => {
  fc.assert(
    fc.property(ids, fc.array(change, { maxLength: 40, size: 'max' }), (names, changes) => {
      const calls = trackedCalls()
      const model = new Map<string, TrackedCall>()
      for (const { kind, which, call } of changes) {
        const id = names[which % names.length]!
        if (kind === 'set') {
          calls.set({ ...call, id })
          model.set(id, { ...call, id })
        } else if (kind === 'delete') expect(calls.delete(id)).toBe(model.delete(id))
        expect(calls.get(id)).toStrictEqual(model.get(id))
        expect([calls.has(id), calls.size]).toEqual([model.has(id), model.size])
      }
      expectSame(calls, model)
      for (const id of names) expect([calls.get(id), calls.has(id)]).toEqual([model.get(id), model.has(id)])
    }),
    { numRuns: runs(300) },
  )
})

test('tracked calls behave like a Map across several blocks of memory, with holes that are filled again', () => {
  type Span = { kind: 'set' | 'delete'; from: number; length: number; step: number }
  const span: fc.Arbitrary<Span> = fc.record({
    kind: fc.constantFrom('set', 'set', 'delete'),
    from: fc.nat(3 * BLOCK),
    length: fc.integer({ min: 1, max: 2 * BLOCK }),
    step: fc.constantFrom(1, 1, 2, 7),
  })
  const FIRST: Span = { kind: 'set', from: 0, length: 2 * BLOCK, step: 1 }
  const HOLE: Span = { kind: 'delete', from: BLOCK / 2, length: BLOCK, step: 1 }
  const LAST: Span = { kind: 'set', from: BLOCK, length: 3 * BLOCK, step: 1 }
  fc.assert(
    fc.property(fc.array(span, { maxLength: 5, size: 'max' }), (spans) => {
      const calls = trackedCalls()
      const model = new Map<string, TrackedCall>()
      for (const [turn, { kind, from, length, step }] of [FIRST, ...spans, HOLE, LAST].entries()) {
        for (let number = from; number < from + length; number += step) {
          const id = `call ${number}`
          if (kind === 'delete') {
            const was = model.delete(id)
            if (calls.delete(id) !== was) throw new Error(`${id} was there: ${was}`)
          } else {
            const call = numbered(id, turn * 10_000 + number)
            calls.set(call)
            model.set(id, call)
          }
        }
      }
      expectSame(calls, model)
    }),
    { numRuns: runs(15) },
  )
})

test('a call that was read stays as it was when the tracked one changes', () => {
  const calls = trackedCalls()
  calls.set(numbered('a', 1))
  const got = calls.get('a')
  calls.set(numbered('a', 2))
  expect(calls.get('a')).toStrictEqual(numbered('a', 2))
  expect([...calls.values()]).toStrictEqual([numbered('a', 2)])
  calls.delete('a')
  calls.set(numbered('b', 3))
  expect(calls.get('b')).toStrictEqual(numbered('b', 3))
  expect(got).toStrictEqual(numbered('a', 1))
})

test('the memory of deleted calls is used again', () => {
  const rounds = 50
  const calls = trackedCalls()
  const before = memoryOfBytes()
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < 4 * BLOCK; n++) calls.set(numbered(`call ${round} ${n}`, n))
    for (let n = 0; n < 4 * BLOCK; n++) calls.delete(`call ${round} ${n}`)
  }
  const inARound = 4 * BLOCK * RECORD_BYTES
  expect(memoryOfBytes() - before).toBeLessThan(rounds * inARound * 0.1)
  expect([calls.size, [...calls.values()]]).toEqual([0, []])
})

test('the outermost tracked calls are the wanted ones with the latest and the earliest own times', () => {
  const moments = fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined })
  const some = fc.array(fc.record({ initiatedAt: moments, startedAt: moments, endedAt: moments }), { maxLength: 200 })
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 30 }), (drawn, count, until) => {
      const calls = trackedCalls()
      const all = drawn.map((times, n) => openSince(0, { id: `call ${n}`, ...times }))
      for (const call of all) calls.set(call)
      const isWanted = (id: string, time: number) => !id.endsWith('3') && time <= until
      const times = (some: TrackedCall[]) => some.map((call) => ownTime(call))
      const wanted = all.filter((call) => isWanted(call.id, ownTime(call) ?? Infinity))
      const sorted = times(wanted.toSorted((a, b) => ownTime(b)! - ownTime(a)!))
      const outermost = calls.outermost(count, isWanted)
      expect(times(outermost).slice(0, count)).toEqual(sorted.slice(0, count))
      expect(times(outermost).at(-1)).toBe(sorted.at(-1))
      expect(new Set(outermost.map(({ id }) => id)).size).toBe(outermost.length)
      for (const call of outermost) expect(wanted).toContainEqual(call)
    }),
    { numRuns: runs(200) },
  )
})

test('the outermost tracked calls are different ones, even if all have the same time', () => {
  const calls = trackedCalls()
  for (const id of ['a', 'b', 'c']) calls.set(openSince(0, { id, endedAt: 3 }))
  expect(calls.outermost(1, () => true).map(({ id }) => id)).toEqual(['c', 'a'])
})

/** The memory of all array buffers in use. */
function memoryOfBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  return process.memoryUsage().arrayBuffers
}
