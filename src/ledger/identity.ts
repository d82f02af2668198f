import { hash } from 'node:crypto'
import { finalStatus, type SeenCall } from './call.ts'
import type { SyncState } from './state.ts'
import type { TrackedCall } from './tracked-call.ts'

/*
 * A session is what the service's `sessionId` names. An app may use it again, so a session has one or more calls, one after the
 * other. This file decides which row of an answer is which call. Rows of sessions with one call, which are nearly all, are told apart
 * before (calls-client.ts, call-identities.ts).
 */

/** An id that callwatch derives begins with this. */
const MARKER = 'cw:'

/** What tells the calls of a session apart. Times are UNIX seconds. */
export type Row = Pick<SeenCall, 'session' | 'mid' | 'status' | 'initiatedAt' | 'startedAt' | 'endedAt' | 'ahead'> & {
  /** Its `mid`, unless that is the one of a room. Only `identify` sets it. */
  ownMid?: number | undefined
}

/** A call of the session that callwatch knows. */
export type KnownCall = Omit<Row, 'session'> &
  Pick<TrackedCall, 'id' | 'firstSeen'> & {
    /** The last time at which a poll certainly showed it. No further call of the session began before. */
    shownUntil: number
    /** Whether the reading to which the answer belongs has shown it with the start that is known. */
    isInReading: boolean
  }

/** The answer that shows the rows. Times are UNIX seconds by the service's clock. */
export type Answer = {
  now: number
  /** Whether a row is too old to be counted. It is another call unless it has the start or the `mid` of a known one. */
  isTooOld: (row: Row) => boolean
  /** Whether the target has shown a session that was used again. */
  isReused: boolean
}

/** Times of one call in two answers differ by at most this (seconds). */
const SAME_SECONDS = 1
/** A call begins at least so long after one of its session that was seen open; a shorter difference is a correction (seconds). */
const LEAST_APART_SECONDS = 5
/** All times of a call may be corrected by so much (seconds), or by quarters of an hour, as those of a wrong time zone. */
const CORRECTED_SECONDS = 30
const ZONE_SECONDS = 900
/** When somebody joins, the start of an open call may move by so much while its `mid` stays (seconds). */
const MOVED_SECONDS = 60
/** The service's clock may be behind the times of its calls by so much (seconds). */
const AHEAD_SECONDS = 10

/** The session of a call. A tracked call has it only where it is not the id of the call. */
export function sessionOf({ id, session = id }: { id: string; session?: string | undefined }): string {
  return session
}

/** A digest of the service's `mid` in 32 bits, with a sign (FNV-1a). Only those of one session are compared. */
export function midOf(mid: string | undefined): number | undefined {
  if (mid === undefined) return undefined
  let digest = 0x811c9dc5
  for (let i = 0; i < mid.length; i++) digest = Math.imul(digest ^ mid.charCodeAt(i), 0x01000193)
  return digest | 0
}

/**
 * Decides which calls the rows of one session in one answer are. The first of these rules that fits a row decides, and each call is at
 * most one row, or several with the same start:
 *
 * 1. the call with the same `mid`, unless the `mid` is that of a room
 * 2. the call with the same start, whatever its `mid`: a media server that restarts changes it
 * 3. the nearest call that is not certainly another one: the service has changed its times
 * 4. a new call
 *
 * @param known the calls of the session
 * @param shownUnchanged the ids of those that the answer shows unchanged
 * @returns the id of the call of each row
 */
export function identify(
  rows: readonly Row[],
  known: readonly KnownCall[],
  answer: Answer,
  shownUnchanged: readonly string[] = [],
): string[] {
  // The usual case: one row of a session that is not known.
  if (rows.length === 1 && known.length === 0) return [newId(rows[0]!, known, answer)]
  const shown = new Set(shownUnchanged)
  const rooms = midsOfRooms([...rows, ...known.filter(({ id }) => shown.has(id))], known)
  const withOwnMid = <One extends Pick<Row, 'mid'>>(one: One) => {
    return { ...one, ownMid: rooms.has(one.mid) ? undefined : one.mid }
  }
  const compared = rows.map(withOwnMid)
  const calls: KnownCall[] = known.map(withOwnMid)
  const ids = new Map<Row, string>()
  const assign = (row: Row, call: KnownCall | undefined) => {
    if (call === undefined) return
    ids.set(row, call.id)
    shown.add(call.id)
    // The answer may show this row twice.
    calls.push({ ...call, ...row, id: call.id })
  }
  const unassigned = () => compared.filter((row) => !ids.has(row))
  for (const row of unassigned()) assign(row, withSameMid(row, calls, answer))
  for (const row of unassigned()) assign(row, calls.find((call) => isSameStart(row, call))) // oxfmt-ignore
  for (const row of unassigned()) {
    const again = calls.find((call) => isSameStart(row, call) && shown.has(call.id))
    const others = calls.filter((call) => !isOther(row, call, shown, answer))
    assign(row, again ?? nearest(row, others) ?? add(row))
  }
  return compared.map((row) => ids.get(row)!)

  function add(row: Row): KnownCall {
    const call = {
      ...row,
      id: newId(row, calls, answer),
      firstSeen: answer.now,
      shownUntil: answer.now,
      isInReading: true,
    }
    calls.push(call)
    return call
  }
}

type Dated = Times & Pick<Row, 'mid'>

/** The `mid`s that several calls of the session have: they do not say which call a row is. @param shown what the answer shows */
function midsOfRooms(shown: readonly Dated[], known: readonly KnownCall[]): ReadonlySet<number | undefined> {
  const isOfRoom = (one: Dated) => shown.some((other) => other.mid === one.mid && areApart(one, other))
  const isShared = ({ mid, id }: KnownCall) => known.some((other) => other.mid === mid && other.id !== id)
  return new Set([...shown.filter(isOfRoom), ...known.filter(isShared)].map(({ mid }) => mid))
}

/** The call with the `mid` of a row, unless the row is another call by its times: then it is the `mid` of a room. */
function withSameMid(row: Row, calls: readonly KnownCall[], answer: Answer) {
  const call = row.ownMid === undefined ? undefined : calls.find(({ ownMid }) => ownMid === row.ownMid)
  if (call === undefined) return undefined
  const isOfRoom =
    ((call.isInReading || answer.isTooOld(row)) && isSecond(row, call)) ||
    (!hasMoved(row, call) && beganSince(row, call, answer))
  return isOfRoom ? undefined : call
}

function hasMoved(row: Row, call: KnownCall): boolean {
  return isOpen(row) && isOpen(call) && Math.abs((startOf(row) ?? NaN) - (startOf(call) ?? NaN)) <= MOVED_SECONDS
}

function isOther(row: Row, call: KnownCall, shown: ReadonlySet<string>, answer: Answer): boolean {
  if (answer.isTooOld(row) || beganSince(row, call, answer)) return true
  const hasStarts = startOf(row) !== undefined && startOf(call) !== undefined
  // A media server that restarts gives the same call another `mid`, also in an answer without its start.
  if (hasOtherMid(row, call)) return hasStarts || shown.has(call.id) || (isOpen(row) && !isOpen(call))
  return hasStarts && (shown.has(call.id) || (mayBeSecond(row, call) && isSecond(row, call)))
}

/** Whether their times tell two calls apart: those of an open call that ends may be shown shifted. */
function mayBeSecond(row: Row, call: KnownCall): boolean {
  const isShifted = isOpen(call) && isShift(startOf(row)! - startOf(call)!)
  return call.isInReading || (!isOpen(row) && !isShifted)
}

/** Whether both have a `mid`, and they differ. */
export function hasOtherMid(row: Pick<Row, 'mid'>, call: Pick<Row, 'mid'>): boolean {
  return row.mid !== undefined && call.mid !== undefined && row.mid !== call.mid
}

const isOpen = (row: Pick<Row, 'status' | 'endedAt'>) => finalStatus(row) === undefined

/** Whether a row and a call are two calls by their times alone. */
function isSecond(row: Row, call: KnownCall): boolean {
  return areApart(row, call) && !isCopy(row, call)
}

/** Whether the row began, or a final call's ended, after the call was last shown, and is not that call with all its times shifted. */
function beganSince(row: Row, call: KnownCall, { now }: Answer): boolean {
  const known = startOf(call) ?? call.endedAt
  if (known === undefined || (row.endedAt !== undefined && row.endedAt === call.endedAt)) return false
  const start = isRinging(call) ? beganToRing(row) : startOf(row)
  const began = start ?? (endsLater(row, call) ? row.endedAt : undefined)
  if (began === undefined) return false
  const earliest = known + (isOpen(call) ? LEAST_APART_SECONDS : 0)
  return began >= Math.max(call.shownUntil, earliest) && began <= now + AHEAD_SECONDS && !isCopy(row, call)
}

/** Whether the call may still get its first `startedAt`, or another one if the service sends no other time. */
const isRinging = ({ status, startedAt, endedAt }: KnownCall) =>
  status === 'initiated' ||
  (startedAt === undefined &&
    endedAt === undefined &&
    (status === 'ongoing' || status === 'other' || status === 'ended'))

/** A wrong `initiatedAt` may be later than `startedAt`. */
function beganToRing({ initiatedAt, startedAt = Infinity }: Row): number | undefined {
  return initiatedAt !== undefined && initiatedAt <= startedAt ? initiatedAt : undefined
}

function endsLater(row: Row, call: KnownCall): boolean {
  return !isOpen(call) && row.endedAt! > call.endedAt! + LEAST_APART_SECONDS
}

/**
 * Whether both are final and equal, except for one difference of all their times: some seconds, or as of a wrong time zone. With the
 * same `mid`, unless that is of a room, it may be any difference.
 */
function isCopy(row: Row, call: KnownCall): boolean {
  if (row.status !== call.status || isOpen(row)) return false
  const shifts = TIMES.map((time) => [row[time], call[time]]).filter(([one, other]) => one !== other)
  const [first = NaN, ...others] = shifts.map(([one = NaN, other = NaN]) => one - other)
  const hasSameMid = row.ownMid !== undefined && row.ownMid === call.ownMid && others.length > 0
  return (isShift(first) || hasSameMid) && others.every((shift) => shift === first)
}

/** Whether the service may have corrected times by so much (seconds). */
function isShift(seconds: number): boolean {
  const fromZone = Math.abs(seconds - Math.round(seconds / ZONE_SECONDS) * ZONE_SECONDS)
  return Math.abs(seconds) <= CORRECTED_SECONDS || fromZone <= SAME_SECONDS
}

type Times = Pick<SeenCall, (typeof TIMES)[number] | 'status'>
export const TIMES = ['initiatedAt', 'startedAt', 'endedAt'] as const

const areNear = (one = NaN, other = NaN) => Math.abs(one - other) <= SAME_SECONDS

/** Whether a call began at the same time. A service may show it as `startedAt` instead of `initiatedAt`. */
export function isSameStart(row: Times, call: Times): boolean {
  const isNear = (time: 'initiatedAt' | 'startedAt') => areNear(row[time], call[time])
  return isNear('initiatedAt') || isNear('startedAt') || areNear(startOf(row), startOf(call))
}

/** The earlier one of its two times: a wrong `initiatedAt` may be later. */
function startOf({ initiatedAt, startedAt }: Times): number | undefined {
  const start = Math.min(initiatedAt ?? Infinity, startedAt ?? Infinity)
  return start === Infinity ? undefined : start
}

/** Whether both have a start, and one is over before the other one begins. */
function areApart(one: Times, other: Times): boolean {
  if (startOf(one) === undefined || startOf(other) === undefined || isSameStart(one, other)) return false
  const endOf = (a: Times) => a.endedAt ?? (isOpen(a) ? Infinity : startOf(a)! + CORRECTED_SECONDS)
  return endOf(one) < startOf(other)! || endOf(other) < startOf(one)!
}

/**
 * Whether a row is taken for a call by nothing but its session, although its start has moved: the service has changed the times, or
 * callwatch has not recognized another call.
 */
export function isAmbiguous(row: Times & Pick<Row, 'mid'>, call: Times & Pick<Row, 'mid'>): boolean {
  const moved = Math.abs((startOf(row) ?? NaN) - (startOf(call) ?? NaN))
  return moved > LEAST_APART_SECONDS && !isSameStart(row, call) && (row.mid ?? NaN) !== call.mid
}

function nearest(row: Row, calls: readonly KnownCall[]): KnownCall | undefined {
  const began = startOf(row) ?? row.endedAt ?? Number.MAX_SAFE_INTEGER
  const distance = (call: KnownCall) =>
    isCopy(row, call) ? -1 : Math.abs((startOf(call) ?? call.endedAt ?? call.firstSeen) - began)
  return calls.toSorted((a, b) => distance(a) - distance(b))[0]
}

/**
 * A session that has one call gives the call its id. Any other id is derived. So is each id of a call with a `mid` once a target has
 * shown a session that was used again: the id of a call that has expired is not given a second time.
 */
function newId(row: Row, calls: readonly KnownCall[], { isReused, isTooOld }: Answer): string {
  const { session, mid } = row
  const isTaken = calls.length > 0 || (isReused && mid !== undefined) || session.startsWith(MARKER) || isTooOld(row)
  return isTaken
    ? `${MARKER}${hash('sha256', JSON.stringify([session, mid, startOf(row) ?? row.endedAt]), 'base64url').slice(0, 22)}`
    : session
}

/**
 * What is known of a call.
 *
 * @param sync of its target; undefined for an evicted call
 */
export function knownOf(call: TrackedCall, sync: Partial<SyncState> = { lastSuccess: Infinity }): KnownCall {
  return { ...call, shownUntil: shownUntil(call, sync), isInReading: false }
}

/** A confirmed sweep has shown every call that is over. */
function shownUntil(call: TrackedCall, sync: Partial<SyncState>): number {
  const { lastSuccess = 0, lastSuccessBegan = lastSuccess, confirmedSweep = 0 } = sync
  const { phase, firstSeen, finish } = call
  if (phase === 'open' || phase === 'lost') return firstSeen
  // A poll that failed may have missed another call of the session, and one that succeeded those that began while it read.
  return Math.max(Math.min(finish?.known ?? firstSeen, lastSuccessBegan), confirmedSweep)
}
