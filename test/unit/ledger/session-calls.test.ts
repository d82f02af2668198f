import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { identify, type Answer, type Row } from '../../../src/ledger/identity.ts'
import { trackedCalls } from '../../../src/ledger/tracked-calls.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { openSince } from '../alerts/sample-calls.ts'
import { runs } from '../../kit/runs.ts'

const BEGAN = 1_790_000_000
const time = fc.option(fc.nat(4000).map((seconds) => BEGAN + seconds), { nil: undefined, freq: 8 }) // oxfmt-ignore
const shown = fc.record({
  initiatedAt: time,
  startedAt: time,
  lasts: fc.nat(200),
  mid: fc.option(fc.nat(20), { nil: undefined }),
  status: fc.constantFrom('initiated', 'ongoing', 'ended', 'ended', 'ended', 'ended', 'unanswered'),
} as const)

function rowOf({ lasts, ...call }: typeof shown extends fc.Arbitrary<infer Shown> ? Shown : never) {
  const isOver = call.status === 'ended' || call.status === 'unanswered'
  const began = call.startedAt ?? call.initiatedAt
  return { ...call, session: 'room', endedAt: isOver && began !== undefined ? began + lasts : undefined }
}

const callOf = (id: string, row: Row): TrackedCall => {
  const phase = row.status === 'initiated' || row.status === 'ongoing' ? 'open' : 'final'
  return { ...openSince(BEGAN, { id, ...row }), phase, session: id === 'room' ? undefined : 'room' }
}

const ANSWER: Answer = { now: BEGAN + 5000, isTooOld: () => false, isReused: true, isShown: () => false }

test('the calls of a session are those that were set and not deleted, whichever has the id of the session', () => {
  const change = fc.record({ isSet: fc.boolean(), which: fc.nat(40), row: shown.map(rowOf) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 120, size: 'max' }), (changes) => {
      const calls = trackedCalls()
      const model = new Map<string, TrackedCall>()
      for (const { isSet, which, row } of changes) {
        const id = which === 0 ? 'room' : `cw:${which}`
        const call = callOf(id, row)
        if (isSet) model.set(id, call)
        else model.delete(id)
        if (isSet) calls.set(call)
        else calls.delete(id)
        if (isSet) expect(calls.withTimes('room', row).map((each) => each.id)).toContain(id)
        if (isSet) expect(calls.candidates('room', [row]).map((each) => each.id)).toContain(id)
      }
      expect(calls.ofSession('room').map(({ id }) => id).toSorted()).toEqual([...model.keys()].toSorted()) // oxfmt-ignore
    }),
    { numRuns: runs(300) },
  )
})

test('a row is the same call among the candidates as among all calls of its session, also where these are thousands', () => {
  const calls = trackedCalls()
  const meeting = (n: number): Row => {
    const startedAt = BEGAN + 600 * n
    return { session: 'room', status: 'ended', mid: n % 3, initiatedAt: BEGAN, startedAt, endedAt: startedAt + 300 }
  }
  for (let n = 0; n < 1000; n++) calls.set(callOf(`cw:${n}`, meeting(n)))
  calls.set(callOf('cw:ringing', { ...meeting(1001), status: 'initiated', mid: undefined, endedAt: undefined }))
  const all = calls.ofSession('room')
  for (let n = 0; n < 1100; n += 7) {
    const { startedAt = 0, endedAt = 0, ...rest } = meeting(n)
    const rows: Row[] = [
      { ...rest, startedAt, endedAt },
      { ...rest, startedAt, endedAt: undefined, status: 'ongoing' },
      { ...rest, startedAt: startedAt + 20, endedAt: endedAt + 20 },
      { ...rest, startedAt: startedAt + 400, endedAt: undefined, status: 'ongoing' },
      { ...rest, initiatedAt: undefined, startedAt, endedAt },
      { ...rest, initiatedAt: undefined, startedAt: undefined, endedAt },
    ]
    for (const row of rows) {
      const candidates = calls.candidates('room', [row])
      const isWithStart = row.startedAt !== undefined
      if (isWithStart) expect(candidates.length).toBeLessThan(60)
      expect(identify([row], candidates, ANSWER)).toEqual(identify([row], all, ANSWER))
    }
  }
})
