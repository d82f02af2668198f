import { hash } from 'node:crypto'
import { finalStatus, type SeenCall } from './call.ts'
import type { TrackedCall } from './tracked-call.ts'

/*
 * A session is what the service's `sessionId` names. An app may use it again, so a session has one or more calls, one after the
 * other. This file decides which row of an answer is which call. Rows of sessions with one call, which are nearly all, are told apart
 * before (calls-client.ts, call-identities.ts).
 */

/** An id that callwatch derives begins with this. */
const MARKER = 'cw:'

/** What tells the calls of a session apart. Times are UNIX seconds. */
export type Row = Pick<SeenCall, 'session' | 'ahead'> & Values
type Values = Pick<SeenCall, 'mid' | 'status' | (typeof TIMES)[number]>

/** A call of the session that callwatch knows, as it was shown last. It may be given twice, as it was shown before that. */
export type KnownCall = Values & Pick<TrackedCall, 'id' | 'firstSeen'>

/** What decides together with the rows. */
export type Answer = {
  /** The service's clock (UNIX seconds). */
  now: number
  /** Whether a row is too old to be counted. */
  isTooOld: (row: Row) => boolean
  /** Whether the target has shown a session that was used again. */
  isReused: boolean
  /** Whether the reading to which the answer belongs has shown a call. */
  isShown: (id: string) => boolean
}

/** Times of one call in two answers differ by at most this (seconds). */
const SAME_SECONDS = 1
/** A ringing call is answered, and the start of an open call is corrected, by at most this (seconds). */
const MOVED_SECONDS = 50

export const TIMES = ['initiatedAt', 'startedAt', 'endedAt'] as const

/** The session of a call. A tracked call has it only where it is not the id of the call. */
export function sessionOf({ id, session = id }: { id: string; session?: string | undefined }): string {
  return session
}

/** A digest of the service's `mid` in 53 bits (cyrb53). Only those of one session are compared. */
export function midOf(mid: string | undefined): number | undefined {
  if (mid === undefined) return undefined
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < mid.length; i++) {
    const code = mid.charCodeAt(i)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
  }
  const mixed = (one: number, other: number) =>
    Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35)
  return 2 ** 32 * (mixed(b, a) & 0x1fffff) + (mixed(a, b) >>> 0)
}

/**
 * Decides which calls the rows of one session in one answer are. The first of these steps that fits decides, each for all rows before
 * the next one:
 *
 * 1. an equal start, a `mid` that does not differ, and no value that contradicts a row of this answer which is that call already
 * 2. a call that the reading has not shown, whose start is at most 50 seconds from the row's, and that has its `mid`, or is open without
 *    one: it was answered, or its start was corrected. Neither is over before the other one begins.
 * 3. a further call
 *
 * @param known the calls of the session
 * @param unchanged those that the answer shows unchanged
 * @returns the id of the call of each row
 */
export function identify(
  rows: readonly Row[],
  known: readonly KnownCall[],
  answer: Answer,
  unchanged: readonly KnownCall[] = [],
): string[] {
  // The usual case: one row of a session that is not known.
  if (rows.length === 1 && known.length === 0) return [newId(rows[0]!, known, answer)]
  const calls = [...known]
  const shown = new Map<string, Values[]>(Map.groupBy(unchanged, ({ id }) => id))
  const ids = new Map<Row, string>()
  const assign = (row: Row, { id }: KnownCall) => {
    ids.set(row, id)
    shown.set(id, [...(shown.get(id) ?? []), row])
  }
  // Another page of the reading may have shown the call at another time.
  const isMovedAway = (row: Row, { id }: KnownCall) =>
    calls.some((call) => call.id === id && !isSameStart(row, call) && areApart(row, call))
  const isSame = (row: Row, call: KnownCall) =>
    isSameStart(row, call) && !shown.get(call.id)?.some((other) => contradict(row, other)) && !isMovedAway(row, call)
  const isMoved = (row: Row, call: KnownCall) =>
    !shown.has(call.id) && !answer.isShown(call.id) && isStartMoved(row, call)
  for (const step of [isSame, isMoved]) {
    for (const row of rows) {
      const call = ids.has(row) ? undefined : nearest(row, calls.filter((one) => step(row, one))) // oxfmt-ignore
      if (call !== undefined) assign(row, call)
    }
  }
  for (const row of rows) {
    if (ids.has(row)) continue
    const again = calls.find((call) => isSame(row, call))
    const call = again ?? { ...row, id: newId(row, calls, answer), firstSeen: answer.now }
    if (again === undefined) calls.push(call)
    assign(row, call)
  }
  return rows.map((row) => ids.get(row)!)
}

/**
 * Whether both began at the same time. A service may show the one time in place of the other. Without a start, a row is any call of
 * the session with that end.
 */
export function isSameStart(row: Values, call: Values): boolean {
  if (differ(row.mid, call.mid)) return false
  if (beganAt(row) === undefined || beganAt(call) === undefined) return !differ(row.endedAt, call.endedAt, SAME_SECONDS)
  if (hasBoth(row) && hasBoth(call))
    return areNear(row.initiatedAt, call.initiatedAt) && areNear(row.startedAt, call.startedAt)
  const isStart = (time: number | undefined) => areNear(time, call.initiatedAt) || areNear(time, call.startedAt)
  return isStart(row.initiatedAt) || isStart(row.startedAt)
}

function isStartMoved(row: Values, call: Values): boolean {
  // A call that was answered does not ring again.
  const ringsAgain = row.startedAt === undefined && (row.initiatedAt ?? NaN) > (call.startedAt ?? NaN)
  if (ringsAgain || areApart(row, call) || !areNear(beganAt(row), beganAt(call), MOVED_SECONDS)) return false
  return call.mid === undefined ? isOpen(call) : row.mid === call.mid
}

const areApart = (one: Values, other: Values) => isOverBefore(one, other) || isOverBefore(other, one)

/** Whether one was over before the other one began. Without an `endedAt` it is taken for over when it began. */
function isOverBefore(one: Values, other: Values): boolean {
  return !isOpen(one) && (one.endedAt ?? beganAt(one) ?? NaN) < (beganAt(other) ?? NaN)
}

/** Whether they show different values, so that they are not the same call at the same time. */
const contradict = (one: Values, other: Values) =>
  differ(one.mid, other.mid) || TIMES.some((time) => differ(one[time], other[time], SAME_SECONDS))

const isOpen = (call: Values) => finalStatus(call) === undefined
const beganAt = ({ initiatedAt, startedAt = initiatedAt }: Values) => startedAt
const hasBoth = ({ initiatedAt, startedAt }: Values) => initiatedAt !== undefined && startedAt !== undefined
const differ = (one = NaN, other = NaN, most = 0) => Math.abs(one - other) > most
const areNear = (one = NaN, other = NaN, most = SAME_SECONDS) => Math.abs(one - other) <= most

/** Of several calls, the one that began nearest to the row; for a row without a start, the latest. */
function nearest(row: Row, calls: readonly KnownCall[]): KnownCall | undefined {
  const began = beganAt(row) ?? Number.MAX_SAFE_INTEGER
  const distance = (call: KnownCall) => Math.abs((beganAt(call) ?? call.firstSeen) - began)
  return calls.toSorted((one, other) => distance(one) - distance(other))[0]
}

/**
 * A session that has one call gives the call its id. Any other id is derived. So is each id of a call with a `mid` once a target has
 * shown a session that was used again: the id of a call that has expired is not given a second time.
 */
function newId(row: Row, calls: readonly KnownCall[], { isReused, isTooOld }: Answer): string {
  const { session, mid, initiatedAt, startedAt, endedAt } = row
  const isTaken = calls.length > 0 || (isReused && mid !== undefined) || session.startsWith(MARKER) || isTooOld(row)
  if (!isTaken) return session
  const values: unknown[] = [session, mid, initiatedAt, startedAt, ...(beganAt(row) === undefined ? [endedAt] : [])]
  for (;;) {
    const id = `${MARKER}${hash('sha256', JSON.stringify(values), 'base64url').slice(0, 22)}`
    if (!calls.some((call) => call.id === id)) return id
    values.push(id)
  }
}
