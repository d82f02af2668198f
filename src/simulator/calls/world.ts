import type { Call } from './call.ts'
import { courseOf, type Course } from './call-at.ts'
import type { Extension } from '../extension.ts'
import { write, type LedgerEvent } from './ledger.ts'
import type { Life, Manners } from './life.ts'
import type { Random } from '../random.ts'
import { insert } from '../sorted.ts'
import { defaultSwitches, type Switches } from '../switches.ts'

/** What is not left to chance in a world. */
export type WorldOptions = Manners & {
  seed: number | string
  /** Mean number of calls that begin in a minute of the clock, whatever the speed; 0 or more. */
  callsPerMinute: number
  /** Calls that began before the start. */
  history: number
  /** Seconds before the start over which the history is spread; absent: as its number and callsPerMinute make it. */
  historySeconds?: number
  /**
   * Calls follow the hour of the day and the day of the week (UTC), in the history and afterwards, or in the history alone:
   * the numbers of calls are means over a week. The history then ends where `historySeconds` do, which must be given.
   */
  weekly?: boolean | 'history'
  /** Calls, besides the history, that began before the start and end after it. */
  open: number
}

/** A call in the world. */
export type Entry = {
  sessionId: string
  beganMs: number
  /** Decides between calls that began in the same millisecond. */
  order: number
  /** Absent once nothing more happens to the call. */
  course?: Course
  /** When the last ledger event was. */
  atMs: number
  /** With the figures that the last ledger event left. */
  call: Call
  /** The wire form of the call as it is now; absent: not made yet. */
  text?: string
}

/**
 * The calls and what has happened to them. Each life is drawn whole when its call begins, from a random stream of
 * its own, so that a world is the same however often or seldom it is advanced. It is changed in place.
 */
export type World = {
  options: WorldOptions
  extension: Partial<Extension>
  /** Every call that is listed, oldest first. */
  listing: Entry[]
  /** Every call that Get Call knows, by its session id. */
  entries: Map<string, Entry>
  /** Calls that are too old for the list and that Get Call still knows. */
  unlisted: Entry[]
  ledger: LedgerEvent[]
  /** The next one is the last. */
  upcoming: Upcoming[]
  arrivals: { random: Random; count: number; lastMs: number }
  bursts: number
  /** Whole milliseconds since 1970: everything until here has happened. */
  nowMs: number
}

/** What is to happen. `order` is the call's own: it decides between things that happen in the same millisecond. */
export type Upcoming = { ms: number; order: number; happen: (switches: Switches) => void }

/** How many unlisted calls Get Call knows, beyond as many as are listed. */
const MAX_UNLISTED = 1000

/**
 * Lets everything happen that is due until `at`; nothing if that is in the past.
 *
 * @param at seconds since 1970
 * @param switches those of this time
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
      if (onBegin(switches)) begin(world, life, order, switches)
    },
  })
}

export function beginCall(world: World, life: Life, order: number, switches: Switches, course = courseOf(life)): Entry {
  const entry = addEntry(world, life, order, course)
  step(world, entry, life.initiatedMs, switches)
  return entry
}

/** @param ms the moment whose state it shows at first */
export function addEntry(world: World, life: Life, order: number, course: Course, ms = life.initiatedMs): Entry {
  const { sessionId, initiatedMs } = life
  const entry = { sessionId, beganMs: initiatedMs, order, course, atMs: -Infinity, call: course.at(ms) }
  world.entries.set(sessionId, entry)
  enlist(world, entry)
  return entry
}

/** Adds the call to the list, where it belongs. */
export function enlist({ listing }: World, entry: Entry): void {
  insert(listing, entry, (a, b) => a.beganMs < b.beganMs || (a.beganMs === b.beganMs && a.order < b.order))
}

/** What happens to a call at `ms`, if anything still does: its course may have changed since that was planned. */
export function step(world: World, entry: Entry, ms: number, switches: Switches): void {
  const { course } = entry
  const moment = course?.after(entry.atMs)
  if (!course || !moment) {
    delete entry.course
    return
  }
  if (moment.ms > ms) {
    planStep(world, entry, moment.ms)
    return
  }
  if (!isToHappen(world, entry, moment.happening, switches)) return
  entry.atMs = moment.ms
  entry.call = course.at(moment.ms)
  delete entry.text
  write(world, moment.happening, entry.call)
  const next = course.after(moment.ms)
  if (next) planStep(world, entry, next.ms)
  else delete entry.course
}

export function planStep(world: World, entry: Entry, ms: number): void {
  plan(world, { ms, order: entry.order, happen: (switches) => step(world, entry, ms, switches) })
}

function isToHappen(world: World, entry: Entry, happening: string, switches: Switches): boolean {
  return world.extension.happens?.(world, entry, happening, switches) ?? true
}

/** When the oldest call is to leave the list, in milliseconds since 1970; Infinity for never. */
function leavingAt({ listing, nowMs }: World, { listedSeconds, mostListed }: Switches): number {
  const [oldest] = listing
  if (oldest === undefined) return Infinity
  if (mostListed !== 'all' && listing.length > mostListed) return nowMs
  return listedSeconds === 'forever' ? Infinity : oldest.beganMs + listedSeconds * 1000
}

/** Get Call knows the call for a while. */
function unlistOldest(world: World, switches: Switches): void {
  const { listing, unlisted, entries } = world
  const entry = listing.shift()!
  if (!isToHappen(world, entry, 'unlisted', switches)) return
  write(world, 'unlisted', entry.call)
  unlisted.push(entry)
  // Two are checked for each that leaves, so that open ones, which wait once more, do not block the others.
  for (let i = 0; i < 2 && unlisted.length > listing.length + MAX_UNLISTED; i++) {
    const oldest = unlisted.shift()!
    if (oldest.course) unlisted.push(oldest)
    else entries.delete(oldest.sessionId)
  }
}
