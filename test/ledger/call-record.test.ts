import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packCall, readCall, readFinish, RECORD_BYTES, unpackCall, writeCall } from '../../src/ledger/call-record.ts'
import { ALL_LABELS, labelsOf } from '../../src/ledger/call.ts'
import { MARK, type TrackedCall } from '../../src/ledger/tracked-call.ts'
import { anyCall, PHASES } from './any-call.ts'

/** A call of which everything is known. */
const FULL: TrackedCall = {
  id: 'full',
  phase: 'final',
  status: 'rejected',
  labels: labelsOf('video', 'meet', 'group'),
  firstSeen: 1_790_000_000.25,
  initiatedAt: 1_789_999_990,
  startedAt: 1_789_999_992.5,
  endedAt: 1_790_000_060,
  totalParticipants: 7,
  joined: 0,
  counted: [0.5, 1, 2, 3.75],
  finish: {
    status: 'ended',
    labels: labelsOf('audio', 'call', 'user'),
    at: 1_790_000_060,
    known: 1_790_000_070,
    knownHostTime: 1_790_000_071,
    began: 1_789_999_990,
    answerDelay: 2.5,
    duration: 67.5,
    audio: 0.5,
    video: 1,
  },
  notFound: 1,
  retainUntil: 1_790_000_070,
  marks: MARK.durationObserved | MARK.finalChanged | MARK.tooManyParticipants,
}

/** A call of which as little as possible is known. */
const BARE: TrackedCall = {
  ...FULL,
  id: 'bare',
  phase: 'open',
  status: 'initiated',
  labels: labelsOf('other', 'other', 'other'),
  firstSeen: 1,
  initiatedAt: undefined,
  startedAt: undefined,
  endedAt: undefined,
  totalParticipants: undefined,
  joined: undefined,
  counted: [0, 0, 0, 0],
  finish: undefined,
  notFound: 0,
  retainUntil: undefined,
  marks: 0,
}

test('a call record restores any call, unknown values included', () => {
  fc.assert(
    fc.property(anyCall, (call) => {
      const record = packCall(call)
      const back = unpackCall(call.id, record)
      expect(back).toStrictEqual(call)
      // Labels are compared by identity.
      expect(back.labels).toBe(call.labels)
      expect(back.finish?.labels).toBe(call.finish?.labels)
      expect(record).toHaveLength(RECORD_BYTES)
    }),
    { numRuns: 2000 },
  )
})

test('a call record is read and written at an offset, without touching its neighbours', () => {
  fc.assert(
    fc.property(anyCall, fc.nat(3), (call, place) => {
      const bytes = new Uint8Array(4 * RECORD_BYTES).fill(0xaa)
      const view = new DataView(bytes.buffer)
      const [from, to] = [place * RECORD_BYTES, (place + 1) * RECORD_BYTES]
      writeCall(view, from, call)
      expect(readCall(view, from, call.id)).toStrictEqual(call)
      expect(readFinish(view, from)).toStrictEqual(call.finish)
      expect(bytes.slice(from, to)).toEqual(packCall(call))
      expect(unpackCall(call.id, bytes.subarray(from, to))).toStrictEqual(call)
      expect([...bytes.slice(0, from), ...bytes.slice(to)].every((byte) => byte === 0xaa)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('a call record that overwrites another leaves nothing of it', () => {
  fc.assert(
    fc.property(anyCall, anyCall, (before, after) => {
      const view = new DataView(new ArrayBuffer(RECORD_BYTES))
      writeCall(view, 0, before)
      writeCall(view, 0, after)
      expect(new Uint8Array(view.buffer)).toEqual(packCall(after))
    }),
    { numRuns: 300 },
  )
})

// Stores contain these bytes: if one of these tests fails, the code is wrong.
describe('the bytes of a call record stay as stores contain them:', () => {
  const NOT_KNOWN = '000000000000f87f'
  const RECORDS: [string, TrackedCall, string[]][] = [
    [
      'a call of which everything is known',
      FULL,
      [
        '000010e04eacda41',
        '000080dd4eacda41 000020de4eacda41 000000ef4eacda41',
        '0000000000001c40 0000000000000000',
        '000000000000e03f 000000000000f03f 0000000000000040 0000000000000e40',
        '000080f14eacda41',
        '000000ef4eacda41 000080f14eacda41 0000c0f14eacda41 000080dd4eacda41',
        '0000000000000440 0000000000e05040 000000000000e03f 000000000000f03f',
        '02 04 10 02 00 01 4108',
      ],
    ],
    [
      'a call of which little is known',
      BARE,
      ['000000000000f03f', NOT_KNOWN.repeat(5), '00'.repeat(4 * 8), NOT_KNOWN.repeat(1 + 8), '00 00 23 ff ff 00 0000'],
    ],
  ]

  test.each(RECORDS)('%s', (_what, call, record) => {
    const hex = record.join('').replaceAll(' ', '')
    expect(Buffer.from(packCall(call)).toString('hex')).toBe(hex)
    expect(unpackCall(call.id, Buffer.from(hex, 'hex'))).toStrictEqual(call)
  })

  test('the code of each phase, status, set of labels and mark', () => {
    const byte = (at: number, differing: Partial<TrackedCall>) => packCall({ ...FULL, ...differing })[at]
    const phases = ['open', 'lost', 'final', 'baseline'] as const
    expect(phases.map((phase) => byte(152, { phase }))).toEqual([0, 1, 2, 3])
    expect(phases.toSorted()).toEqual(PHASES.toSorted())

    const final = ['ended', 'unanswered', 'rejected', 'canceled', 'other'] as const
    const statuses = ['initiated', 'ongoing', ...final] as const
    expect(statuses.map((status) => byte(153, { status }))).toEqual([0, 1, 2, 3, 4, 5, 6])
    const finishes = final.map((status) => ({ ...FULL.finish!, status }))
    expect(finishes.map((finish) => byte(155, { finish }))).toEqual([2, 3, 4, 5, 6])

    const labels = (['audio', 'video', 'other'] as const).flatMap((type) =>
      (['call', 'meet', 'presenter', 'other'] as const).flatMap((mode) =>
        (['user', 'group', 'other'] as const).map((receiverType) => labelsOf(type, mode, receiverType)),
      ),
    )
    expect(new Set(labels)).toEqual(new Set(ALL_LABELS))
    const codes = Array.from({ length: 36 }, (_, code) => code)
    expect(labels.map((one) => byte(154, { labels: one }))).toEqual(codes)
    expect(labels.map((one) => byte(156, { finish: { ...FULL.finish!, labels: one } }))).toEqual(codes)

    expect(MARK).toEqual({
      durationObserved: 0x1,
      answerDelayObserved: 0x2,
      participantsObserved: 0x4,
      recordingSeen: 0x8,
      recordedCounted: 0x10,
      detailsWanted: 0x20,
      finalChanged: 0x40,
      unknownStatus: 0x80,
      labelsChanged: 0x100,
      badValue: 0x200,
      timeReversed: 0x400,
      tooManyParticipants: 0x800,
      repeatedId: 0x1000,
      overAtSetUp: 0x2000,
    })
  })
})
