import type { SeenCall } from './call.ts'

/*
 * The calls of one session, found by their times and `mid`s. A lobby has thousands of calls in one session, and each row of a page
 * meets only the few that it may be. Changed in place.
 */

/** What the calls of a session are found by. NaN and undefined mean unknown. */
export type Keys = Partial<Pick<SeenCall, (typeof KEYS)[number]>>
const KEYS = ['initiatedAt', 'startedAt', 'endedAt', 'mid'] as const

export type SessionCalls<Ref> = {
  readonly all: Ref[]
  /** By each key, in ascending order; and calls that may be any row, since they are open or have no start. Absent for few calls. */
  sorted?: Record<(typeof KEYS)[number], Ref[]> & { loose: Set<Ref> }
}

/** How the calls are kept. */
export type Access<Ref> = {
  keysOf: (ref: Ref) => Keys
  /** Whether it is open. */
  isOpen: (ref: Ref) => boolean
}

/** Of so many calls each is a candidate. */
const FEW = 16
/** The most candidates with nearly equal keys. */
const MOST_NEAR = 10
/** Keys are nearly equal if they differ by at most this. */
const NEAR = 1

export function addCall<Ref>(calls: SessionCalls<Ref>, ref: Ref, access: Access<Ref>): void {
  calls.all.push(ref)
  if (calls.sorted !== undefined) addSorted(calls.sorted, ref, access)
  if (calls.sorted !== undefined || calls.all.length <= FEW) return
  calls.sorted = { initiatedAt: [], startedAt: [], endedAt: [], mid: [], loose: new Set() }
  for (const each of calls.all) addSorted(calls.sorted, each, access)
}

/** Call it before the keys of the call change. */
export function removeCall<Ref>({ all, sorted }: SessionCalls<Ref>, ref: Ref, { keysOf }: Access<Ref>): void {
  all.splice(all.indexOf(ref), 1)
  if (sorted === undefined) return
  sorted.loose.delete(ref)
  for (const key of KEYS) {
    const value = keysOf(ref)[key] ?? NaN
    const at = sorted[key].indexOf(ref, placeOf(sorted[key], key, value, keysOf))
    if (at !== -1) sorted[key].splice(at, 1)
  }
}

function addSorted<Ref>(sorted: NonNullable<SessionCalls<Ref>['sorted']>, ref: Ref, access: Access<Ref>): void {
  const keys = access.keysOf(ref)
  for (const key of KEYS) {
    const value = keys[key] ?? NaN
    if (!Number.isNaN(value)) sorted[key].splice(placeOf(sorted[key], key, value, access.keysOf), 0, ref)
  }
  if (access.isOpen(ref) || !hasStart(keys)) sorted.loose.add(ref)
}

/** The calls that rows may be, and their neighbours in time. */
export function candidates<Ref>(calls: SessionCalls<Ref>, rows: readonly Keys[], access: Access<Ref>): Iterable<Ref> {
  const { all, sorted } = calls
  if (sorted === undefined || !rows.every(hasStart)) return all
  const near = (key: (typeof KEYS)[number], value = NaN) => nearTo(sorted[key], key, value, access.keysOf)
  const found = new Set(sorted.loose)
  for (const { initiatedAt, startedAt, endedAt, mid } of rows) {
    for (const time of [initiatedAt, startedAt])
      for (const key of ['initiatedAt', 'startedAt'] as const) for (const ref of near(key, time)) found.add(ref)
    for (const ref of near('endedAt', endedAt)) found.add(ref)
    for (const ref of near('mid', mid)) found.add(ref)
  }
  return found
}

/** Of the calls that {@link candidates} has, those with exactly these times. */
export function* withTimes<Ref>({ all, sorted }: SessionCalls<Ref>, row: Keys, { keysOf }: Access<Ref>) {
  const key = (['startedAt', 'endedAt', 'initiatedAt'] as const).find((each) => row[each] !== undefined)
  const found = sorted === undefined || key === undefined ? all : nearTo(sorted[key], key, row[key]!, keysOf)
  for (const ref of found) if (key === undefined || keysOf(ref)[key] === row[key]) yield ref
}

const hasStart = ({ initiatedAt = NaN, startedAt = NaN }: Keys) =>
  !Number.isNaN(initiatedAt) || !Number.isNaN(startedAt)

/** Those whose key is nearly equal, the one before them and the one after them. */
function nearTo<Ref>(refs: readonly Ref[], key: keyof Keys, value: number, keysOf: (ref: Ref) => Keys): Ref[] {
  if (Number.isNaN(value)) return []
  const from = Math.max(0, placeOf(refs, key, value - NEAR, keysOf) - 1)
  const near = refs.slice(from, from + MOST_NEAR)
  const beyond = near.findIndex((ref) => keysOf(ref)[key]! > value + NEAR)
  return beyond === -1 ? near : near.slice(0, beyond + 1)
}

/** The first place with this key or a larger one. */
function placeOf<Ref>(refs: readonly Ref[], key: keyof Keys, value: number, keysOf: (ref: Ref) => Keys): number {
  let [low, high] = [0, refs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keysOf(refs[middle]!)[key]! < value) low = middle + 1
    else high = middle
  }
  return low
}
