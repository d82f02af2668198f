import { drawSessionId } from './session-id.ts'
import type { FinalStatus } from './call.ts'
import { between, chance, exponential, hex, logNormal, weighted, whole, type Random } from '../random.ts'

/** The whole life of a call, determined when the call is created. Times are whole milliseconds since 1970. */
export type Life = {
  /** Names the call in the ledger. */
  callId: string
  /** That of the call alone, unless the session is a room (switch `sessions`). */
  sessionId: string
  mid: string
  type: string
  mode: string
  receiverType: string
  receiver: string
  /** The first seat is the caller's. */
  seats: Seat[]
  initiatedMs: number
  /** Absent if the call was not answered. Equal to `initiatedMs` for meetings, which do not ring. */
  startedMs?: number
  endedMs: number
  /** One of the final statuses. */
  outcome: string
  /** How often the service updates the figures of a running call. */
  progressMs: number
  /** How the service computes a call's own minutes: the sum over its participants, or the time that it lasted. */
  callMinutes: 'sum' | 'wall'
  /** The service sends when it began as `startedAt`, and no `initiatedAt`. */
  hasStartAlone?: boolean
  /** If the call fails, the service sends no `endedAt`. */
  hidesFailedEnd?: boolean
  recordedFromMs?: number
}

/** One device of one person in a call. */
export type Seat = {
  uid: string
  deviceId: string
  /** A further device is listed from when it joins. People are listed from the start. */
  furtherDevice: boolean
  declines: boolean
  joins?: Visit
}

type Visit = { fromMs: number; toMs: number; cameraFromMs: number; cameraToMs: number }

/** The properties of calls that are not random. */
export type Manners = {
  /** Ringing and talking are this many times faster than in reality; above 0. */
  speed: number
  /** 0 to 1, for calls that ring. */
  answerProbability: number
  /** Seconds (at speed 1) between two updates of a running call's figures, but at least one second of the clock. */
  progressSeconds: number
  /** How many groups there are; default: 40. */
  groups?: number
}

const MODES = Object.entries({ call: 0.7, meet: 0.2, presenter: 0.1 })
const TYPES = Object.entries({ audio: 0.45, video: 0.55 })
const UNSUCCESSFUL = Object.entries({ unanswered: 0.5, rejected: 0.3, canceled: 0.2 })
const USERS = 400
const GROUPS = 40
export const MAX_SEATS = 50
const MAX_CALL_SECONDS = 4 * 3600

/**
 * Draws the whole life of a call. The same random stream gives the same life, whatever its start.
 *
 * @param initiatedMs when it begins (whole milliseconds since 1970)
 * @param outcome how it ends; if given, the call rings
 */
export function drawLife(random: Random, manners: Manners, initiatedMs: number, outcome?: FinalStatus): Life {
  const mode = outcome ? 'call' : weighted(random, MODES)
  const type = weighted(random, TYPES)
  const receiverType = chance(random, mode === 'call' ? 0.3 : 0.85) ? 'group' : 'user'
  const ending = outcome ?? (mode === 'call' ? drawOutcome(random, manners) : 'ended')
  const ms = (seconds: number): number => Math.max(1, Math.round((seconds * 1000) / manners.speed))

  const ringingMs = mode === 'call' ? ms(ringingSeconds(random, ending)) : 0
  const talkingMs = ending === 'ended' ? ms(talkingSeconds(random, mode)) : 0
  const startedMs = initiatedMs + ringingMs
  const endedMs = startedMs + talkingMs
  const answered = ending === 'ended'

  const people = drawPeople(random, receiverType)
  const sessionId = drawSessionId(random, mode)
  return {
    callId: sessionId,
    sessionId,
    mid: hex(random, 32),
    type,
    mode,
    receiverType,
    receiver: drawReceiver(random, receiverType, people, manners),
    seats: drawSeats(random, people, type, answered ? { startedMs, endedMs } : undefined),
    initiatedMs,
    ...(answered ? { startedMs } : {}),
    endedMs,
    outcome: ending,
    progressMs: Math.max(1000, Math.round((manners.progressSeconds * 1000) / manners.speed)),
    callMinutes: chance(random, 0.5) ? 'sum' : 'wall',
    ...(answered && drawRecording(random, startedMs, talkingMs)),
  }
}

/** The same life at other times. @param change from one time to another (milliseconds since 1970) */
export function retimed(life: Life, change: (ms: number) => number): Life {
  const { initiatedMs, startedMs, endedMs, recordedFromMs, seats } = life
  const moved = ({ fromMs, toMs, cameraFromMs, cameraToMs }: Visit): Visit => ({
    fromMs: change(fromMs),
    toMs: change(toMs),
    cameraFromMs: change(cameraFromMs),
    cameraToMs: change(cameraToMs),
  })
  return {
    ...life,
    seats: seats.map((seat) => (seat.joins ? { ...seat, joins: moved(seat.joins) } : seat)),
    initiatedMs: change(initiatedMs),
    endedMs: change(endedMs),
    ...(startedMs === undefined ? {} : { startedMs: change(startedMs) }),
    ...(recordedFromMs === undefined ? {} : { recordedFromMs: change(recordedFromMs) }),
  }
}

function drawReceiver(random: Random, type: string, people: readonly string[], { groups = GROUPS }: Manners): string {
  return type === 'user' ? people[1]! : `group-${whole(random, 1, groups)}`
}

function drawRecording(random: Random, startedMs: number, talkingMs: number): Pick<Life, 'recordedFromMs'> {
  return chance(random, 0.2) ? { recordedFromMs: startedMs + Math.floor(between(random, 0, talkingMs / 2)) } : {}
}

function drawOutcome(random: Random, manners: Manners): string {
  return chance(random, manners.answerProbability) ? 'ended' : weighted(random, UNSUCCESSFUL)
}

function ringingSeconds(random: Random, outcome: string): number {
  if (outcome === 'ended') return Math.min(60, logNormal(random, 6, 0.6))
  if (outcome === 'unanswered') return between(random, 30, 45)
  return Math.min(60, logNormal(random, outcome === 'rejected' ? 5 : 8, 0.6))
}

function talkingSeconds(random: Random, mode: string): number {
  return Math.min(MAX_CALL_SECONDS, mode === 'call' ? logNormal(random, 150, 1) : logNormal(random, 600, 0.9))
}

/** Different uids: first the caller, then the person who answers. */
function drawPeople(random: Random, receiverType: string): string[] {
  const large = chance(random, 0.03)
  const groupSize = large ? whole(random, 30, MAX_SEATS) : Math.min(MAX_SEATS, 3 + Math.floor(exponential(random, 3)))
  const uids = new Set<string>()
  while (uids.size < (receiverType === 'user' ? 2 : groupSize)) uids.add(`user-${whole(random, 1, USERS)}`)
  return [...uids]
}

function drawSeats(
  random: Random,
  people: string[],
  type: string,
  talk: { startedMs: number; endedMs: number } | undefined,
): Seat[] {
  const seats = people.map((uid, index): Seat => {
    const seat = { uid, deviceId: `${uid}-${hex(random, 8)}`, furtherDevice: false, declines: chance(random, 0.3) }
    if (!talk) return seat
    // The caller and the person who answers stay throughout, since the call continues while both talk.
    if (index < 2) return { ...seat, declines: false, joins: withCamera(random, type, talk.startedMs, talk.endedMs) }
    return chance(random, 0.8) ? { ...seat, declines: false, joins: drawVisit(random, type, talk) } : seat
  })
  if (!talk) return seats
  const further = seats
    .filter((seat) => seat.joins && chance(random, 0.12))
    .map(({ uid }): Seat => {
      const joins = drawVisit(random, type, talk)
      return { uid, deviceId: `${uid}-${hex(random, 8)}`, furtherDevice: true, declines: false, joins }
    })
  // In the order in which they are listed, so that entries are only added at the end.
  return [...seats, ...further.toSorted((a, b) => a.joins!.fromMs - b.joins!.fromMs)].slice(0, MAX_SEATS)
}

function drawVisit(random: Random, type: string, talk: { startedMs: number; endedMs: number }): Visit {
  const fromMs = talk.startedMs + Math.floor(((talk.endedMs - talk.startedMs) / 2) * random())
  const toMs = talk.endedMs - Math.floor(((talk.endedMs - fromMs) / 2) * random())
  return withCamera(random, type, fromMs, toMs)
}

function withCamera(random: Random, type: string, fromMs: number, toMs: number): Visit {
  const length = toMs - fromMs
  const cameraFromMs = fromMs + Math.floor(chance(random, 0.6) ? 0 : (length / 2) * random())
  const cameraToMs = toMs - Math.floor(chance(random, 0.6) ? 0 : (length / 2) * random())
  return type === 'video'
    ? { fromMs, toMs, cameraFromMs, cameraToMs }
    : { fromMs, toMs, cameraFromMs: toMs, cameraToMs: toMs }
}
