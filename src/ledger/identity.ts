import { hash } from 'node:crypto'
import { finalStatus, type SeenCall } from './call.ts'
import type { SyncState } from './state.ts'
import type { TrackedCall } from './tracked-call.ts'

/*
 * A session is what the service's `sessionId` names. An app may use it again, so a session has one or more calls, one after the
 * other. This file alone decides which row of an answer is which call.
 */

/** An id that callwatch derives begins with this. */
const MARKER = 'cw:'

/** What tells the calls of a session apart. Times are UNIX seconds. */
export type Row = Pick<
  SeenCall,
  'session' | 'mid' | 'status' | 'initiatedAt' | 'startedAt' | 'endedAt' | 'ahead' | 'callMinutes'
>

/** A call of the session that callwatch knows. */
export type KnownCall = Omit<Row, 'session' | 'callMinutes'> &
  Pick<TrackedCall, 'id' | 'firstSeen'> & {
    /** Undefined if they are not known. */
    counted?: readonly number[] | undefined
    /** Polls have certainly shown it until then, so no further call of the session began before. */
    shownUntil: number
    /** Whether the reading to which the answer belongs has shown it, at its start. */
    isShown: boolean
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
/** Two calls of a session begin at least this far apart (seconds). */
const LEAST_APART_SECONDS = 5

/** The session of a call. A tracked call has it only where it is not the id of the call. */
export function sessionOf({ id, session = id }: { id: string; session?: string | undefined }): string {
  return session
}

/** A digest of the service's `mid`, which fits into a number. */
export function midOf(mid: string | undefined): number | undefined {
  return mid === undefined ? undefined : Number.parseInt(hash('sha1', mid, 'hex').slice(0, 13), 16)
}

/**
 * Decides which calls the rows of one session in one answer are. Each row is the first of these that fits, and each call is at most
 * one row, or several with the same start:
 *
 * 1. the call with the same `mid`, unless the `mid` is that of a room
 * 2. the call with the same start
 * 3. the nearest call that is not certainly another one: the service has changed its times
 * 4. a new call
 *
 * @param known the calls of the session
 * @param shownUnchanged the ids of those that the answer shows as they are known
 * @returns the id of the call of each row
 */
export function identify(
  rows: readonly Row[],
  known: readonly KnownCall[],
  answer: Answer,
  shownUnchanged: readonly string[] = [],
): string[] {
  const calls = [...known]
  const shown = new Set(shownUnchanged)
  const ids = new Map<Row, string>()
  const take = (row: Row, call: KnownCall | undefined) => {
    if (call === undefined) return
    ids.set(row, call.id)
    shown.add(call.id)
    // The answer may show this row twice.
    calls.push({ ...call, ...row, ahead: call.ahead })
  }
  const rest = () => rows.filter((row) => !ids.has(row))
  for (const row of rest()) take(row, withSameMid(row, rows, calls, answer))
  for (const row of rest()) take(row, calls.find((call) => isSameStart(row, call))) // oxfmt-ignore
  for (const row of rest()) {
    const others = calls.filter((call) => isSameStart(row, call) || !isOther(row, call, shown, answer))
    take(row, nearest(row, others) ?? add(row))
  }
  return rows.map((row) => ids.get(row)!)

  function add(row: Row): KnownCall {
    const call = { ...row, id: newId(row, calls, answer), firstSeen: answer.now, shownUntil: answer.now, isShown: true }
    calls.push(call)
    return call
  }
}

/** The call with the `mid` of a row. If several have it, or the row is certainly another call, it is the `mid` of a room. */
function withSameMid(row: Row, rows: readonly Row[], calls: readonly KnownCall[], answer: Answer) {
  if (row.mid === undefined) return undefined
  const [call, ...others] = calls.filter(({ mid }) => mid === row.mid)
  if (call === undefined || others.some(({ id }) => id !== call.id)) return undefined
  const isRoom = rows.some((other) => other.mid === row.mid && areApart(row, other))
  return isRoom || isFurther(row, call, answer) || isLater(row, call, answer) ? undefined : call
}

function isOther(row: Row, call: KnownCall, shown: ReadonlySet<string>, answer: Answer): boolean {
  if (answer.isTooOld(row)) return true
  // Without both starts they may be the same, also if a media server has restarted.
  if (startOf(row) === undefined || startOf(call) === undefined) return isLater(row, call, answer)
  const haveOtherMids = row.mid !== undefined && call.mid !== undefined && row.mid !== call.mid
  return haveOtherMids || shown.has(call.id) || isFurther(row, call, answer) || isLater(row, call, answer)
}

/** Whether its times are others than those at which another page of the same reading has shown the call, or at which it counts. */
function isFurther(row: Row, call: KnownCall, { isTooOld }: Answer): boolean {
  return (call.isShown || isTooOld(row)) && areApart(row, call) && !isCopy(row, call)
}

/** Whether the row began, or a final call's ended, after the call was last shown, and is not that call with all its times shifted. */
function isLater(row: Row, call: KnownCall, { now }: Answer): boolean {
  const began = startOf(row) ?? (endsLater(row, call) ? row.endedAt! : -Infinity)
  const earliest = Math.max(call.shownUntil, (startOf(call) ?? call.firstSeen) + LEAST_APART_SECONDS)
  return began >= earliest && began <= now + SAME_SECONDS && !isCopy(row, call)
}

function endsLater(row: Row, call: KnownCall): boolean {
  return finalStatus(call) !== undefined && row.endedAt! > call.endedAt! + LEAST_APART_SECONDS
}

/**
 * Whether both are final and have equal values, except for a difference of all their times, as of a wrong clock or time zone.
 */
function isCopy(row: Row, call: KnownCall): boolean {
  if (row.status !== call.status || finalStatus(row) === undefined) return false
  const { audio, video } = row.callMinutes
  const areSame = [audio, video].every((minutes, i) => [undefined, call.counted?.[i] ?? minutes].includes(minutes))
  const shifts = TIMES.map((time) => [row[time], call[time]]).filter(([one, other]) => one !== other)
  const [first = NaN, ...others] = shifts.map(([one = NaN, other = NaN]) => one - other)
  return areSame && others.length > 0 && others.every((shift) => shift === first)
}

type Times = Pick<SeenCall, (typeof TIMES)[number]>
const TIMES = ['initiatedAt', 'startedAt', 'endedAt'] as const

/** Whether a call began at the same time. The service may show it as `initiatedAt` or as `startedAt`. */
export function isSameStart(row: Times, call: Times): boolean {
  const starts = [call.initiatedAt, call.startedAt]
  return [row.initiatedAt, row.startedAt].some((one = NaN) =>
    starts.some((other = NaN) => Math.abs(one - other) <= SAME_SECONDS),
  )
}

const startOf = ({ initiatedAt, startedAt }: Times) => initiatedAt ?? startedAt

/** Whether one is over before the other one begins. */
function areApart(one: Times, other: Times): boolean {
  if (startOf(one) === undefined || startOf(other) === undefined) return false
  const isBefore = (a: Times, b: Times) => (a.endedAt ?? Infinity) <= startOf(b)!
  return (isBefore(one, other) || isBefore(other, one)) && !isSameStart(one, other)
}

/**
 * Whether a row is taken for a call although its times do not overlap with what was known of the call: the service has changed them,
 * or callwatch has not recognized another call.
 */
export function isAmbiguous(row: Times, call: Times): boolean {
  return areApart(row, call)
}

function nearest(row: Row, calls: readonly KnownCall[]): KnownCall | undefined {
  const began = startOf(row) ?? row.endedAt ?? Infinity
  const distance = (call: KnownCall) => Math.abs((startOf(call) ?? call.endedAt ?? call.firstSeen) - began)
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
    ? `${MARKER}${hash('sha256', JSON.stringify([session, mid, startOf(row)]), 'base64url').slice(0, 22)}`
    : session
}

/**
 * What is known of a call.
 *
 * @param sync of its target; undefined for an evicted call
 */
export function knownOf(call: TrackedCall, sync: Partial<SyncState> = { lastSuccess: Infinity }): KnownCall {
  const counted = call.phase === 'baseline' ? undefined : call.counted
  return { ...call, counted, shownUntil: shownUntil(call, sync), isShown: false }
}

/** A confirmed sweep has shown every call that is not open. */
function shownUntil(call: TrackedCall, { lastSuccess = 0, confirmedSweep = 0 }: Partial<SyncState>): number {
  const { phase, firstSeen, finish, retainUntil } = call
  if (phase === 'open') return firstSeen
  if (phase === 'lost') return retainUntil ?? firstSeen
  // A poll that failed may have missed another call of the session.
  return Math.max(Math.min(finish?.known ?? firstSeen, lastSuccess), confirmedSweep)
}
