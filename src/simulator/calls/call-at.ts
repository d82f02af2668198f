import { isFinalStatus, type Call, type Participant } from './call.ts'
import type { Life, Seat } from './life.ts'

/** A change of a call at a time (whole milliseconds since 1970): the call reaches a status, or makes `progress`. */
export type Moment = { ms: number; happening: string }

/** The course of a call: its state at each time, and its next change. */
export type Course = { at: (ms: number) => Call; after: (ms: number) => Moment | undefined }

export function courseOf(life: Life): Course {
  return { at: (ms) => callAt(life, ms), after: (ms) => momentAfter(life, ms) }
}

/**
 * The call as the service knows it at a time. Minutes never decrease over time, and after the end nothing changes.
 *
 * @param ms whole milliseconds since 1970, not before the call's start
 */
function callAt(life: Life, ms: number): Call {
  const seats = life.seats.filter((seat) => !seat.furtherDevice || (seat.joins && seat.joins.fromMs <= ms))
  const spans = seats.map((seat) => spanAt(seat, ms))
  const started = life.startedMs !== undefined && life.startedMs <= ms
  const hasEnded = life.endedMs <= ms
  const wallMs = started ? Math.min(ms, life.endedMs) - life.startedMs! : 0
  const recorded = life.recordedFromMs !== undefined && life.recordedFromMs <= ms
  const joined = seats.filter((seat) => hasJoined(seat, ms)).length
  return {
    sessionId: life.sessionId,
    ...(joined > 0 && { mid: life.mid }),
    type: life.type,
    mode: life.mode,
    receiverType: life.receiverType,
    initiator: life.seats[0]!.uid,
    receiver: life.receiver,
    status: statusAt(life, ms),
    ...callMinutes(life, spans, wallMs),
    totalDuration: clockText(wallMs),
    totalParticipants: joined,
    hasRecording: recorded,
    hasTranscription: false,
    ...timesAt(life, started),
    ...(hasEnded && !isEndHidden(life) && { endedAt: seconds(life.endedMs) }),
    participants: seats.map((seat, index) => participantAt(life, seat, index, ms)),
    ...(recorded && hasEnded ? { recordings: [recordingOf(life, life.recordedFromMs!)] } : {}),
    data: { entities: { initiator: userOf(life.seats[0]!.uid), receiver: receiverOf(life) } },
    tags: [],
    metaData: [],
  }
}

export const isEndHidden = ({ hidesFailedEnd, outcome }: Life) =>
  hidesFailedEnd === true && isFinalStatus(outcome) && outcome !== 'ended'

/** When it began to ring, and when it was answered; or only the former, under the name of the latter. */
function timesAt(life: Life, started: boolean): Pick<Call, 'initiatedAt' | 'startedAt'> {
  const initiatedAt = seconds(life.initiatedMs)
  if (life.hasStartAlone === true) return { startedAt: initiatedAt }
  return { initiatedAt, ...(started && { startedAt: seconds(life.startedMs!) }) }
}

/** The sum over the entries, or the time of the call: with a camera on for as long as that of the entry with the longest. */
function callMinutes({ callMinutes: of }: Life, spans: readonly Span[], wallMs: number) {
  const sum = (msOf: (span: Span) => number) => spans.reduce((total, span) => total + msOf(span), 0)
  const videoMs = of === 'sum' ? sum((span) => span.videoMs) : Math.max(0, ...spans.map((span) => span.videoMs))
  const audioMs = of === 'sum' ? sum((span) => span.audioMs) : wallMs - videoMs
  const own = minutesOf({ audioMs, videoMs })
  return { ...own, totalDurationInMinutes: own.totalAudioMinutes + own.totalVideoMinutes }
}

const userOf = (uid: string) => ({
  entityType: 'user',
  entity: { uid, name: `Name of ${uid}`, avatar: `https://avatars.invalid/${uid}.png` },
})

function receiverOf({ receiver, receiverType }: Life) {
  if (receiverType !== 'group') return userOf(receiver)
  const icon = `https://avatars.invalid/${receiver}.png`
  return { entityType: 'group', entity: { guid: receiver, name: `Name of ${receiver}`, icon } }
}

function statusAt(life: Life, ms: number): string {
  if (life.endedMs <= ms) return life.outcome
  return life.startedMs !== undefined && life.startedMs <= ms ? 'ongoing' : 'initiated'
}

type Span = { audioMs: number; videoMs: number }

/** How long a seat has been connected with the camera on (video) and without it (audio). */
function spanAt(seat: Seat, ms: number): Span {
  if (!seat.joins) return { audioMs: 0, videoMs: 0 }
  const { fromMs, toMs, cameraFromMs, cameraToMs } = seat.joins
  const connectedMs = Math.max(0, Math.min(ms, toMs) - fromMs)
  const videoMs = Math.max(0, Math.min(ms, cameraToMs) - cameraFromMs)
  return { audioMs: connectedMs - videoMs, videoMs }
}

const hasJoined = ({ joins }: Seat, ms: number) => joins !== undefined && joins.fromMs <= ms

function participantAt(life: Life, seat: Seat, index: number, ms: number): Participant {
  const own = minutesOf(spanAt(seat, ms))
  const figures = { uid: seat.uid, ...own, totalDuration: own.totalAudioMinutes + own.totalVideoMinutes }
  if (!seat.joins || !hasJoined(seat, ms)) {
    return { ...figures, isJoined: false, state: stateOfAbsent(life, seat, index, ms) }
  }
  const joinedAt = seconds(seat.joins.fromMs)
  const here = { ...figures, deviceId: seat.deviceId, mid: life.mid, isJoined: true, joinedAt }
  if (ms < seat.joins.toMs) return { ...here, state: 'ongoing' }
  return { ...here, leftAt: seconds(seat.joins.toMs), state: 'ended' }
}

function stateOfAbsent(life: Life, seat: Seat, index: number, ms: number): Participant['state'] {
  const hasEnded = life.endedMs <= ms
  if (index === 0) return hasEnded ? 'ended' : 'ongoing'
  if (hasEnded && (life.outcome === 'rejected' || (life.outcome === 'ended' && seat.declines))) return 'rejected'
  return 'unanswered'
}

function recordingOf(life: Life, fromMs: number): NonNullable<Call['recordings']>[number] {
  const rid = `${life.mid}-1`
  return {
    rid,
    duration: (life.endedMs - fromMs) / 1000,
    startTime: seconds(fromMs),
    endTime: seconds(life.endedMs),
    recording_url: `https://recordings.invalid/${rid}.mp4`,
  }
}

function minutesOf({ audioMs, videoMs }: Span) {
  return { totalAudioMinutes: minutes(audioMs), totalVideoMinutes: minutes(videoMs) }
}

function minutes(ms: number): number {
  return ms / 60_000
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

function clockText(ms: number): string {
  const total = seconds(ms)
  const parts = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** The first time after `ms` at which a call changes; undefined after its end. */
function momentAfter(life: Life, ms: number): Moment | undefined {
  const { initiatedMs, startedMs, endedMs } = life
  if (ms < initiatedMs) return { ms: initiatedMs, happening: startedMs === initiatedMs ? 'ongoing' : 'initiated' }
  if (startedMs !== undefined) {
    if (ms < startedMs) return { ms: startedMs, happening: 'ongoing' }
    const next = startedMs + (Math.floor((ms - startedMs) / life.progressMs) + 1) * life.progressMs
    if (next < endedMs) return { ms: next, happening: 'progress' }
  }
  if (ms >= endedMs) return undefined
  return { ms: endedMs, happening: isFinalStatus(life.outcome) ? life.outcome : 'ended' }
}
