import { finalStatusOf, labelCode, labelsOfCode, statusCode, statusOf } from './call-codes.ts'
import type { Finish, EvictionTimes, TrackedCall } from './tracked-call.ts'

/**
 * A call without its id, as bytes in memory. An object would take three times as much memory.
 *
 * Numbers are 64-bit floats, because times may have fractions; NaN means unknown. Codes of one byte each and the marks
 * follow. Everything is little-endian.
 */
export const RECORD_BYTES = 160

const PHASES = ['open', 'lost', 'final', 'baseline'] as const satisfies readonly TrackedCall['phase'][]

/** The offset of each value in the record (bytes). */
const AT = {
  firstSeen: 0,
  initiatedAt: 8,
  startedAt: 16,
  endedAt: 24,
  totalParticipants: 32,
  joined: 40,
  counted: 48,
  retainUntil: 80,
  finishAt: 88,
  finishKnown: 96,
  finishKnownHost: 104,
  finishBegan: 112,
  finishAnswerDelay: 120,
  finishDuration: 128,
  finishAudio: 136,
  finishVideo: 144,
  phase: 152,
  status: 153,
  labels: 154,
  finishStatus: 155,
  finishLabels: 156,
  notFound: 157,
  marks: 158,
} as const

/** Stands for status and labels of the finish if the call has not finished. */
const NONE = 255

/** Writes a call's record at an offset. */
export function writeCall(view: DataView, offset: number, call: TrackedCall): void {
  const put = (at: number, value: number | undefined) => view.setFloat64(offset + at, value ?? NaN, true)
  put(AT.firstSeen, call.firstSeen)
  put(AT.initiatedAt, call.initiatedAt)
  put(AT.startedAt, call.startedAt)
  put(AT.endedAt, call.endedAt)
  put(AT.totalParticipants, call.totalParticipants)
  put(AT.joined, call.joined)
  for (let i = 0; i < 4; i++) put(AT.counted + 8 * i, call.counted[i])
  put(AT.retainUntil, call.retainUntil)
  view.setUint8(offset + AT.phase, PHASES.indexOf(call.phase))
  view.setUint8(offset + AT.status, statusCode(call.status))
  view.setUint8(offset + AT.labels, labelCode(call.labels))
  view.setUint8(offset + AT.notFound, call.notFound)
  view.setUint16(offset + AT.marks, call.marks, true)
  const { finish } = call
  view.setUint8(offset + AT.finishStatus, finish === undefined ? NONE : statusCode(finish.status))
  view.setUint8(offset + AT.finishLabels, finish === undefined ? NONE : labelCode(finish.labels))
  put(AT.finishAt, finish?.at)
  put(AT.finishKnown, finish?.known)
  put(AT.finishKnownHost, finish?.knownHostTime)
  put(AT.finishBegan, finish?.began)
  put(AT.finishAnswerDelay, finish?.answerDelay)
  put(AT.finishDuration, finish?.duration)
  put(AT.finishAudio, finish?.audio)
  put(AT.finishVideo, finish?.video)
}

/** Reads a call's record at an offset. */
export function readCall(view: DataView, offset: number, id: string): TrackedCall {
  const known = (at: number) => orUndefined(view.getFloat64(offset + at, true))
  return {
    id,
    phase: readPhase(view, offset),
    status: statusOf(view.getUint8(offset + AT.status)),
    labels: labelsOfCode(view.getUint8(offset + AT.labels)),
    firstSeen: view.getFloat64(offset + AT.firstSeen, true),
    initiatedAt: known(AT.initiatedAt),
    startedAt: known(AT.startedAt),
    endedAt: known(AT.endedAt),
    totalParticipants: known(AT.totalParticipants),
    joined: known(AT.joined),
    counted: [
      view.getFloat64(offset + AT.counted, true),
      view.getFloat64(offset + AT.counted + 8, true),
      view.getFloat64(offset + AT.counted + 16, true),
      view.getFloat64(offset + AT.counted + 24, true),
    ],
    finish: readFinish(view, offset),
    notFound: view.getUint8(offset + AT.notFound),
    retainUntil: known(AT.retainUntil),
    marks: readMarks(view, offset),
  }
}

/** Reads only the values that decide when the call is evicted. */
export function readEvictionTimes(view: DataView, offset: number): EvictionTimes {
  const known = (at: number) => orUndefined(view.getFloat64(offset + at, true))
  const finishKnown = known(AT.finishKnown)
  return {
    phase: readPhase(view, offset),
    firstSeen: view.getFloat64(offset + AT.firstSeen, true),
    initiatedAt: known(AT.initiatedAt),
    startedAt: known(AT.startedAt),
    endedAt: known(AT.endedAt),
    retainUntil: known(AT.retainUntil),
    finish: finishKnown === undefined ? undefined : { known: finishKnown },
  }
}

export function readMarks(view: DataView, offset: number): number {
  return view.getUint16(offset + AT.marks, true)
}

export function readPhase(view: DataView, offset: number): TrackedCall['phase'] {
  return PHASES[view.getUint8(offset + AT.phase)]!
}

/** Reads only the finish; undefined if the call has not finished. */
export function readFinish(view: DataView, offset: number): Finish | undefined {
  const status = view.getUint8(offset + AT.finishStatus)
  if (status === NONE) return undefined
  const number = (at: number) => view.getFloat64(offset + at, true)
  return {
    status: finalStatusOf(status),
    labels: labelsOfCode(view.getUint8(offset + AT.finishLabels)),
    at: number(AT.finishAt),
    known: number(AT.finishKnown),
    knownHostTime: number(AT.finishKnownHost),
    began: number(AT.finishBegan),
    answerDelay: orUndefined(number(AT.finishAnswerDelay)),
    duration: orUndefined(number(AT.finishDuration)),
    audio: number(AT.finishAudio),
    video: number(AT.finishVideo),
  }
}

function orUndefined(number: number): number | undefined {
  return Number.isNaN(number) ? undefined : number
}
