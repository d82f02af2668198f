import { isFinalStatus, type Call, type CallStatus, type Participant } from './call.ts'
import type { Life, Seat } from './life.ts'
import { isGone, type TurnName } from './turn.ts'

/**
 * What a call does at a moment: it reaches a status, has its figures updated while it runs, takes a turn, or leaves the
 * list for its age; or it comes into the list long after it ended, or with a recent row of the same id.
 */
export type Happening = CallStatus | 'progress' | 'unlisted' | 'imported' | 'repeated' | TurnName

/** `ms` in whole milliseconds since 1970. */
type Moment = { ms: number; happening: Happening }

/**
 * The call as the service knows it at a moment of its life, its turns included. Without turns minutes never fall from
 * one moment to a later one, and from the end on nothing changes.
 *
 * @param ms whole milliseconds since 1970, not before the call's beginning
 */
export function callAt(life: Life, ms: number): Call {
  const call = plainCallAt(life, ms)
  if (!life.turns) return call
  return life.turns.reduce((turned, turn) => (turn.ms <= ms ? turn.change(turned) : turned), call)
}

function plainCallAt(life: Life, ms: number): Call {
  const seats = life.seats.filter((seat) => !seat.furtherDevice || (seat.joins && seat.joins.fromMs <= ms))
  const spans = seats.map((seat) => spanAt(seat, ms))
  const audioMs = callLevel(
    life,
    spans.map((span) => span.audioMs),
  )
  const videoMs = callLevel(
    life,
    spans.map((span) => span.videoMs),
  )
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
    ...((life.endShownMs ?? life.endedMs) <= ms ? { endedAt: seconds(life.endedMs) } : {}),
    participants: seats.map((seat, index) => participantAt(life, seat, index, ms)),
    ...(recorded && over ? { recordings: [recordingOf(life, life.recordedFromMs!)] } : {}),
    tags: [],
    metaData: [],
  }
}

function statusAt(life: Life, ms: number): string {
  if (life.endedMs <= ms) return life.outcome
  return life.startedMs !== undefined && life.startedMs <= ms ? 'ongoing' : (life.firstStatus ?? 'initiated')
}

function callLevel(life: Life, perSeat: number[]): number {
  return life.callMinutes === 'sum' ? perSeat.reduce((sum, ms) => sum + ms, 0) : Math.max(0, ...perSeat)
}

/** How long one seat has been connected, with the camera on (video) and without (audio). */
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

function minutesOf(
  audioMs: number,
  videoMs: number,
): Pick<Call, 'totalAudioMinutes' | 'totalVideoMinutes' | 'totalDurationInMinutes'> {
  const totalAudioMinutes = minutes(audioMs)
  const totalVideoMinutes = minutes(videoMs)
  const totalDurationInMinutes = Math.round((totalAudioMinutes + totalVideoMinutes) * 10_000) / 10_000
  return { totalAudioMinutes, totalVideoMinutes, totalDurationInMinutes }
}

/** Four decimals, as in the published sample. Whole milliseconds come in, so that rounding never lets a value fall. */
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

/**
 * The first moment after `ms` at which a call changes; none after its end and its last turn, nor while it has vanished.
 */
export function momentAfter(life: Life, ms: number): Moment | undefined {
  const plain = plainMomentAfter(life, ms)
  if (!life.turns) return plain
  const turn = life.turns.find((each) => each.ms > ms && each.ms > life.initiatedMs)
  const next = turn && { ms: turn.ms, happening: turn.name }
  if (isGone(life, ms)) return next
  return next && (!plain || next.ms <= plain.ms) ? next : plain
}

function plainMomentAfter(life: Life, ms: number): Moment | undefined {
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
