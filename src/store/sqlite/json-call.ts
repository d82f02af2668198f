import {
  labelsOf,
  type CallMode,
  type CallStatus,
  type CallType,
  type FinalStatus,
  type ReceiverType,
} from '../../ledger/call.ts'
import type { Finish, TrackedCall } from '../../ledger/tracked-call.ts'

type PackedLabels = [CallType, CallMode, ReceiverType]
type Packed = [
  phase: TrackedCall['phase'],
  status: CallStatus,
  labels: PackedLabels,
  firstSeen: number,
  initiatedAt: number | null,
  startedAt: number | null,
  endedAt: number | null,
  totalParticipants: number | null,
  joined: number | null,
  counted: readonly number[],
  finish:
    | [
        status: FinalStatus,
        labels: PackedLabels,
        at: number,
        known: number,
        began: number,
        answerDelay: number | null,
        duration: number | null,
        audio: number,
        video: number,
        seen: number,
      ]
    | null,
  notFound: number,
  listed: number | null,
  marks: number,
]

/** A call's row as it was kept up to schema 2: a JSON array. */
export function callFromJson(id: string, text: string): TrackedCall {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const packed = JSON.parse(text) as Packed
  const [
    phase,
    status,
    labels,
    firstSeen,
    initiatedAt,
    startedAt,
    endedAt,
    totalParticipants,
    joined,
    counted,
    finish,
    notFound,
    listed,
    marks,
  ] = packed
  return {
    id,
    phase,
    status,
    labels: labelsOf(...labels),
    firstSeen,
    initiatedAt: initiatedAt ?? undefined,
    startedAt: startedAt ?? undefined,
    endedAt: endedAt ?? undefined,
    totalParticipants: totalParticipants ?? undefined,
    joined: joined ?? undefined,
    counted,
    finish: finish ? unpackFinish(finish) : undefined,
    notFound,
    retainUntil: listed ?? undefined,
    marks,
  }
}

function unpackFinish([status, labels, at, known, began, answerDelay, duration, audio, video, seen]: NonNullable<
  Packed[10]
>): Finish {
  return {
    status,
    labels: labelsOf(...labels),
    at,
    known,
    began,
    answerDelay: answerDelay ?? undefined,
    duration: duration ?? undefined,
    audio,
    video,
    seen,
  }
}
