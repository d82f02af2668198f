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
  const ofCall = (perSeat: number[]): number =>
    life.callMinutes === 'sum' ? perSeat.reduce((sum, each) => sum + each, 0) : Math.max(0, ...perSeat)
  const audioMs = ofCall(spans.map((span) => span.audioMs))
  const videoMs = ofCall(spans.map((span) => span.videoMs))
  const started = life.startedMs !== undefined && life.startedMs <= ms
  const over = life.endedMs <= ms
  const recorded = life.recordedFromMs !== undefined && life.recordedFromMs <= ms
  return {
    sessionId: life.sessionId,
    mid: life.mid,
    type: life.type,
    mode: life.mode,
    receiverType: life.receiverType,
    initiator: life.seats[0]!.uid,
    receiver: life.receiver,
    status: statusAt(life, ms),
    ...minutesOf(audioMs, videoMs),
    totalDuration: clockText(started ? Math.min(ms, life.endedMs) - life.startedMs! : 0),
    totalParticipants: seats.length,
    hasRecording: recorded,
    hasTranscription: false,
    initiatedAt: seconds(life.initiatedMs),
    ...(started ? { startedAt: seconds(life.startedMs!) } : {}),
    ...(over ? { endedAt: seconds(life.endedMs) } : {}),
    participants: seats.map((seat, index) => participantAt(life, seat, index, ms)),
    ...(recorded && over ? { recordings: [recordingOf(life, life.recordedFromMs!)] } : {}),
    tags: [],
    metaData: [],
  }
}

function statusAt(life: Life, ms: number): string {
  if (life.endedMs <= ms) return life.outcome
  return life.startedMs !== undefined && life.startedMs <= ms ? 'ongoing' : 'initiated'
}

/** How long a seat has been connected with the camera on (video) and without it (audio). */
function spanAt(seat: Seat, ms: number): { audioMs: number; videoMs: number } {
  if (!seat.joins) return { audioMs: 0, videoMs: 0 }
  const { fromMs, toMs, cameraFromMs, cameraToMs } = seat.joins
  const connectedMs = Math.max(0, Math.min(ms, toMs) - fromMs)
  const videoMs = Math.max(0, Math.min(ms, cameraToMs) - cameraFromMs)
  return { audioMs: connectedMs - videoMs, videoMs }
}

function participantAt(life: Life, seat: Seat, index: number, ms: number): Participant {
  const { audioMs, videoMs } = spanAt(seat, ms)
  const figures = { uid: seat.uid, ...minutesOf(audioMs, videoMs) }
  if (!seat.joins || ms < seat.joins.fromMs) {
    return { ...figures, isJoined: false, state: stateOfAbsent(life, seat, index, ms) }
  }
  const here = { ...figures, deviceId: seat.deviceId, isJoined: true, joinedAt: seconds(seat.joins.fromMs) }
  if (ms < seat.joins.toMs) return { ...here, state: 'ongoing' }
  return { ...here, leftAt: seconds(seat.joins.toMs), state: 'ended' }
}

function stateOfAbsent(life: Life, seat: Seat, index: number, ms: number): Participant['state'] {
  const over = life.endedMs <= ms
  if (index === 0) return over ? 'ended' : 'ongoing'
  if (over && (life.outcome === 'rejected' || (life.outcome === 'ended' && seat.declines))) return 'rejected'
  return 'unanswered'
}

function recordingOf(life: Life, fromMs: number): NonNullable<Call['recordings']>[number] {
  const rid = `${life.mid}-1`
  return {
    rid,
    duration: minutes(life.endedMs - fromMs),
    startTime: seconds(fromMs),
    endTime: seconds(life.endedMs),
    recording_url: `https://recordings.invalid/${rid}.mp4`,
  }
}

function minutesOf(audioMs: number, videoMs: number) {
  const totalAudioMinutes = minutes(audioMs)
  const totalVideoMinutes = minutes(videoMs)
  const totalDurationInMinutes = Math.round((totalAudioMinutes + totalVideoMinutes) * 10_000) / 10_000
  return { totalAudioMinutes, totalVideoMinutes, totalDurationInMinutes }
}

/**
 * Rounds to four decimals, as in the published sample. The input is whole milliseconds, so rounding never makes a value
 * decrease.
 */
function minutes(ms: number): number {
  return Math.round(ms / 6) / 10_000
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
