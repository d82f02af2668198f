import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCall, RECORD_BYTES, writeCall } from '../../../src/ledger/tracked-calls.ts'
import { anyCall } from './any-call.ts'
import { runs } from '../../kit/runs.ts'

test('a call record restores any call, whatever was in its place, without touching its neighbours', () => {
  fc.assert(
    fc.property(anyCall, anyCall, fc.nat(3), (before, call, place) => {
      const bytes = new Uint8Array(4 * RECORD_BYTES).fill(0xaa)
      const view = new DataView(bytes.buffer)
      const [from, to] = [place * RECORD_BYTES, (place + 1) * RECORD_BYTES]
      writeCall(view, from, before)
      writeCall(view, from, call)
      const back = readCall(view, from, call.id, call.session)
      expect(back).toStrictEqual(call)
      // Labels are compared by identity.
      expect(back.labels).toBe(call.labels)
      expect(back.finish?.labels).toBe(call.finish?.labels)
      expect([...bytes.slice(0, from), ...bytes.slice(to)].every((byte) => byte === 0xaa)).toBe(true)
    }),
    { numRuns: runs(2000) },
  )
})
