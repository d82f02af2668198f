import type { Call } from './call.ts'
import { courseOf, type Course } from './call-at.ts'
import type { Extension } from '../extension.ts'
import { write, type LedgerEvent } from './ledger.ts'
import type { Life, Manners } from './life.ts'
import { inRoom, type Room } from './rooms.ts'
import type { Random } from '../random.ts'
import { insert } from '../sorted.ts'
import { defaultSwitches, type Switches } from '../switches.ts'

/** The settings of a world. */
export type WorldOptions = Manners & {
  seed: number | string
  /** The mean number of calls that begin in a minute of the clock, at any speed; 0 or more. */
  callsPerMinute: number
  /** The number of calls that began before the start. */
  history: number
  /** How many seconds before the start the history covers; default: as `history` and `callsPerMinute` imply. */
  historySeconds?: number
  /**
   * Whether calls follow the hour of the day and the day of the week (UTC). The numbers of calls are then means over a week. The history
   * covers `historySeconds`, which must be given.
   */
  weekly?: boolean
  /** How many further calls began before the start and end after it. */
  open: number
}

/** A call in the world. */
export type Entry = {
  callId: string
  sessionId: string
  beganMs: number
  /** Orders calls that began in the same millisecond. */
  order: number
  /** Absent when nothing more happens to the call. */
  course?: Course
  /** The time of its last ledger event. */
  atMs: number
  /** The call with the figures of its last ledger event. */
  call: Call
  /** The call's current JSON, and the form that it has; absent until it is needed. */
  text?: { json: string; form: string }
}

/**
 * All calls and what happened to them. Each life is drawn completely when its call begins, from a random stream of its own.
 * So a world is the same however often it is advanced. Changed in place.
 */
export type World = {
  options: WorldOptions
  extension: Partial<Extension>
  /** All listed calls, oldest first. */
  listing: Entry[]
  /** All calls that Get Call knows, by session id, those of a session oldest first. */
  entries: Map<string, Entry[]>
  /** By the groups that meet there. */
  rooms: Map<string, Room>
  /** Calls that are too old for the list, but that Get Call still knows. */
  unlisted: Entry[]
  ledger: LedgerEvent[]
  /** The next event is the last item. */
  upcoming: Upcoming[]
  arrivals: { random: Random; count: number; lastMs: number }
  bursts: number
  /** Everything up to this time has happened (whole milliseconds since 1970). */
  nowMs: number
}

/** Something that will happen. `order` is the call's, and orders what happens in the same millisecond. */
export type Upcoming = { ms: number; order: number; happen: (switches: Switches) => void }

/** How many unlisted calls Get Call knows, in addition to as many as are listed. */
const MAX_UNLISTED = 1000

/**
 * Lets everything happen that is due until `at`. Does nothing if that is in the past.
 *
 * @param at UNIX seconds
 * @param switches the current switches
 */
export function advance(world: World, at: number, switches: Switches = defaultSwitches): void {
  const untilMs = Math.round(at * 1000)
  for (;;) {
    const nextMs = world.upcoming.at(-1)?.ms ?? Infinity
    const leavingMs = leavingAt(world, switches)
    const ms = Math.min(nextMs, leavingMs)
    if (ms > untilMs) break
    world.nowMs = Math.max(world.nowMs, ms)
    if (leavingMs < nextMs) unlistOldest(world, switches)
    else world.upcoming.pop()!.happen(switches)
  }
  world.nowMs = Math.max(world.nowMs, untilMs)
}

export function plan({ upcoming }: World, what: Upcoming): void {
  insert(upcoming, what, (a, b) => a.ms > b.ms || (a.ms === b.ms && a.order > b.order))
}

/** Plans a call with its whole life. */
export function planCall(world: World, life: Life, order: number, onBegin = (_switches: Switches) => true): void {
  const { begin = beginCall } = world.extension
  plan(world, {
    ms: life.initiatedMs,
    order,
    happen: (switches) => {
      if (!onBegin(switches)) return
      const placed = inRoom(world, life, switches)
      if (placed.initiatedMs > life.initiatedMs) planCall(world, placed, order, ({ arrivals }) => arrivals)
      else begin(world, shownAs(placed, switches), order, switches)
    },
  })
}

/** The life in the form in which the service shows its calls. */
function shownAs(life: Life, { times, failedEnds }: Switches): Life {
  return { ...life, hasStartAlone: times === 'startedAt', hidesFailedEnd: failedEnds === 'absent' }
}

export function beginCall(world: World, life: Life, order: number, switches: Switches, course = courseOf(life)): Entry {
  const entry = addEntry(world, life, order, course)
  step(world, entry, life.initiatedMs, switches)
  return entry
}

/** @param ms the time whose state it shows first */
export function addEntry(world: World, life: Life, order: number, course: Course, ms = life.initiatedMs): Entry {
  const { callId, sessionId, initiatedMs } = life
  const entry = { callId, sessionId, beganMs: initiatedMs, order, course, atMs: -Infinity, call: course.at(ms) }
  remember(world, entry)
  enlist(world, entry)
  return entry
}

/** Makes the call known to Get Call. */
export function remember({ entries }: World, entry: Entry): void {
  const ofSession = entries.get(entry.sessionId) ?? []
  insert(ofSession, entry, isOlder)
  entries.set(entry.sessionId, ofSession)
}

/** Makes the call unknown to Get Call. */
export function forget({ entries }: World, entry: Entry): void {
  const others = (entries.get(entry.sessionId) ?? []).filter((one) => one !== entry)
  if (others.length > 0) entries.set(entry.sessionId, others)
  else entries.delete(entry.sessionId)
}

/** Inserts the call into the list. */
export function enlist({ listing }: World, entry: Entry): void {
  insert(listing, entry, isOlder)
}

function isOlder(a: Entry, b: Entry): boolean {
  return a.beganMs < b.beganMs || (a.beganMs === b.beganMs && a.order < b.order)
}

/** Lets the call do what is due at `ms`, if anything is: its course may have changed since then. */
export function step(world: World, entry: Entry, ms: number, switches: Switches): void {
  const { course } = entry
  const due = course?.after(entry.atMs)
  if (course && due && due.ms <= ms) {
    if (!isToHappen(world, entry, due.happening, switches)) return
    entry.atMs = due.ms
    entry.call = course.at(due.ms)
    delete entry.text
    write(world, due.happening, entry)
  }
  const next = course?.after(entry.atMs)
  if (next) planStep(world, entry, next.ms)
  else delete entry.course
}

export function planStep(world: World, entry: Entry, ms: number): void {
  plan(world, { ms, order: entry.order, happen: (switches) => step(world, entry, ms, switches) })
}

function isToHappen(world: World, entry: Entry, happening: string, switches: Switches): boolean {
  return world.extension.happens?.(world, entry, happening, switches) ?? true
}

/** When the oldest call leaves the list (milliseconds since 1970); Infinity for never. */
function leavingAt({ listing, nowMs }: World, { listedSeconds, mostListed }: Switches): number {
  const [oldest] = listing
  if (oldest === undefined) return Infinity
  if (mostListed !== 'all' && listing.length > mostListed) return nowMs
  return listedSeconds === 'forever' ? Infinity : oldest.beganMs + listedSeconds * 1000
}

/** Removes the oldest call from the list. Get Call still knows it for a while. */
function unlistOldest(world: World, switches: Switches): void {
  const { listing, unlisted } = world
  const entry = listing.shift()!
  if (!isToHappen(world, entry, 'unlisted', switches)) return
  write(world, 'unlisted', entry)
  unlisted.push(entry)
  // Checks two calls for each that leaves the list. Open calls wait another round, so they do not block the others.
  for (let i = 0; i < 2 && unlisted.length > listing.length + MAX_UNLISTED; i++) {
    const oldest = unlisted.shift()!
    if (oldest.course) unlisted.push(oldest)
    else forget(world, oldest)
  }
}
