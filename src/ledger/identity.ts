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
export type KnownCall = Values & Pick<TrackedCall, 'id' | 'firstSeen'> & { phase?: TrackedCall['phase'] }

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
 * 1. an equal start, a `mid` that does not differ, and no value that contradicts a row of this answer which is that call already; first
 *    where the end is equal, too
 * 2. the same `mid`, if row and call are not apart, and the reading has not shown the call
 * 3. an open call without a `mid` that the reading has not shown, if the row begins near it: it was answered, or its start was
 *    corrected. A row or a call without a start is near if nothing contradicts that.
 * 4. a further call
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
  const isNew = ({ id }: KnownCall) => !shown.has(id) && !answer.isShown(id)
  const isSame = (row: Row, call: KnownCall) =>
    isSameStart(row, call) &&
    !shown.get(call.id)?.some((other) => contradict(row, other)) &&
    // Another page of the reading may have shown it at another time.
    !calls.some((other) => other.id === call.id && !isSameStart(row, other) && areApart(row, other))
  const steps: ((row: Row, call: KnownCall) => boolean)[] = [
    (row, call) => isSame(row, call) && areNear(row.endedAt, call.endedAt),
    isSame,
    (row, call) => hasSameMid(row, call) && isNew(call),
    (row, call) => mayBe(row, call) && isNew(call),
    (row, call) => lacksStart(row, call) && (isNew(call) || isOpen(row) === isOpen(call) || isSameMid(row, call)),
  ]
  for (const step of steps) {
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

/** Whether both began at the same time. A service may show the one time in place of the other. */
export function isSameStart(row: Values, call: Values): boolean {
  if (differ(row.mid, call.mid)) return false
  if (areNear(row.startedAt, call.startedAt)) return true
  if (hasBoth(row) && hasBoth(call)) return false
  const hasSameEnd = areNear(row.endedAt, call.endedAt)
  const isInitiated = areNear(row.initiatedAt, call.initiatedAt)
  if (isInitiated && row.startedAt === call.startedAt) return true
  if (!isInitiated && !isCrossed(row, call)) return hasSameEnd && shareNoStart(row, call)
  return hasSameEnd || (!isBefore(shownEnd(row), call) && !isBefore(shownEnd(call), row))
}

/** Whether one shows as `startedAt` what the other one shows as `initiatedAt`. */
const isCrossed = (row: Values, call: Values) =>
  areNear(row.initiatedAt, call.startedAt) || areNear(row.startedAt, call.initiatedAt)

function hasSameMid(row: Row, call: KnownCall): boolean {
  if (!isSameMid(row, call) || areApart(row, call)) return false
  // A room has one `mid`: the one that is open began long before the other one, so its end was missed.
  const later = (beganAt(row) ?? NaN) - (beganAt(call) ?? NaN)
  return !(isOpen(call) && later > MOVED_SECONDS) && !(isOpen(row) && -later > MOVED_SECONDS)
}

/** Whether the row may be the open call after its start has changed. */
function mayBe(row: Row, call: KnownCall): boolean {
  if (!isOpen(call) || call.phase === 'lost' || areApart(row, call)) return false
  // A call that was answered does not ring again.
  if (row.startedAt === undefined && (row.initiatedAt ?? NaN) > (call.startedAt ?? NaN)) return false
  return areNear(beganAt(row), beganAt(call), MOVED_SECONDS) && (call.mid === undefined || isOtherPart(row, call))
}

/** Whether a row lacks the `mid`, and of row and call one shows when it rang, and the other one only when it was answered after that. */
function isOtherPart(row: Row, call: KnownCall): boolean {
  const { initiatedAt = call.initiatedAt, startedAt = call.startedAt } = row
  return row.mid === undefined && shareNoStart(row, call) && (initiatedAt ?? NaN) <= (startedAt ?? NaN)
}

/** Whether one has no start, and nothing else tells them apart. */
function lacksStart(row: Row, call: KnownCall): boolean {
  if (beganAt(row) !== undefined && (beganAt(call) !== undefined || isOpen(row) > isOpen(call))) return false
  return !contradict(row, call) && !areApart(row, call)
}

/** Whether one of them was over before the other one began. Without an `endedAt` it is taken for over when it began. */
function areApart(one: Values, other: Values): boolean {
  const endOf = (call: Values) => (isOpen(call) ? Infinity : (call.endedAt ?? beganAt(call) ?? Infinity))
  return isBefore(endOf(one), other) || isBefore(endOf(other), one)
}

const shownEnd = (call: Values) => (isOpen(call) ? Infinity : (call.endedAt ?? Infinity))
const isBefore = (end: number, call: Values) => end < (beganAt(call) ?? -Infinity)
const hasBoth = ({ initiatedAt, startedAt }: Values) => initiatedAt !== undefined && startedAt !== undefined

/** Whether they show different values, so that they are not the same call at the same time. */
const contradict = (one: Values, other: Values) =>
  differ(one.mid, other.mid) || TIMES.some((time) => differ(one[time], other[time], SAME_SECONDS))

const isSameMid = (one: Values, other: Values) => one.mid !== undefined && one.mid === other.mid
const isOpen = (call: Pick<Row, 'status' | 'endedAt'>) => finalStatus(call) === undefined
const beganAt = ({ initiatedAt, startedAt = initiatedAt }: Values) => startedAt
const differ = (one = NaN, other = NaN, most = 0) => Math.abs(one - other) > most
const areNear = (one = NaN, other = NaN, most = SAME_SECONDS) => Math.abs(one - other) <= most
const shareNoStart = (row: Values, call: Values) =>
  (['initiatedAt', 'startedAt'] as const).every((time) => row[time] === undefined || call[time] === undefined)

/** Of several calls, the one that began nearest to the row, or else the latest. */
function nearest(row: Row, calls: readonly KnownCall[]): KnownCall | undefined {
  const began = beganAt(row) ?? row.endedAt ?? Number.MAX_SAFE_INTEGER
  const distance = (call: KnownCall) => Math.abs((beganAt(call) ?? call.endedAt ?? call.firstSeen) - began)
  return calls.reduce<KnownCall | undefined>(
    (best, call) => (best === undefined || distance(call) < distance(best) ? call : best),
    undefined,
  )
}

/**
 * A session that has one call gives the call its id. Any other id is derived. So is each id of a call with a `mid` once a target has
 * shown a session that was used again: the id of a call that has expired is not given a second time.
 */
function newId(row: Row, calls: readonly KnownCall[], { isReused, isTooOld }: Answer): string {
  const { session, mid, ...times } = row
  const isTaken = calls.length > 0 || (isReused && mid !== undefined) || session.startsWith(MARKER) || isTooOld(row)
  if (!isTaken) return session
  const values: unknown[] = [session, mid, ...TIMES.map((time) => times[time])]
  for (;;) {
    const id = `${MARKER}${hash('sha256', JSON.stringify(values), 'base64url').slice(0, 22)}`
    if (!calls.some((call) => call.id === id)) return id
    values.push(id)
  }
}
