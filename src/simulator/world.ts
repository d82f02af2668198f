import { addHistory, addOpenCalls, importedLives, planArrival, planImport } from './arrivals.ts'
import { callAt, momentAfter } from './call-at.ts'
import { drawFacts } from './facts.ts'
import { reach, write, type LedgerEvent, type Reached } from './ledger.ts'
import type { Life, Manners } from './life.ts'
import { keepPast } from './list-views.ts'
import { insert, listingOf, remove, type Entry, type Listing } from './listing.ts'
import { put, take, type Queue } from './queue.ts'
import { random, type Random } from './random.ts'
import { addFurtherRow, withReusedId } from './shared-ids.ts'
import { defaultSwitches, type Switches } from './switches.ts'
import { calmed } from './turn.ts'
import { leavingAt, unlist } from './unlist.ts'

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

/** The switches that decide what happens, not how it is shown. */
export type Conduct = Pick<
  Switches,
  | 'arrivals'
  | 'imports'
  | 'facts'
  | 'reusedIds'
  | 'listedSeconds'
  | 'mostListed'
  | 'unlisted'
  | 'replicaLag'
  | 'getCallLag'
>

/**
 * The calls and what has happened to them. Each life is drawn whole when its call begins, from a random stream of
 * its own, so that a world is the same however often or seldom it is advanced. It is changed in place.
 */
export type World = {
  options: WorldOptions
  /** Every call that is listed, oldest first. */
  listing: Listing
  /** Every call that is known, by its session id, also those that have vanished for a while. */
  entries: Map<string, Entry>
  /** Calls that are too old for the list and that Get Call still knows. */
  unlisted: Entry[]
  /** Calls that began until here are too old for the list. */
  unlistedUntilMs: number
  ledger: LedgerEvent[]
  upcoming: Queue<Upcoming>
  arrivals: { random: Random; count: number; lastMs: number }
  imports: { random: Random; count: number }
  /** When the calls began to arrive, in milliseconds since 1970. */
  startMs: number
  /** How many calls have come into the list. */
  rows: number
  bursts: number
  /** Whole milliseconds since 1970: everything until here has happened. */
  nowMs: number
  reached: Reached
}

/**
 * When something more happens to a call. `order` is the call's own: it decides between things that happen in the same
 * millisecond. A call that is yet to begin has a life and no entry; a planned import has a number.
 */
type Upcoming = { ms: number; order: number } & (
  | { life: Life; arrival: boolean }
  | { entry: Entry }
  | { import: number }
)

/** @param start seconds since 1970: before it lies the history, after it the calls arrive */
export function createWorld(options: WorldOptions, start: number): World {
  const startMs = Math.round(start * 1000)
  const world: World = {
    options,
    listing: listingOf([]),
    entries: new Map(),
    unlisted: [],
    unlistedUntilMs: -Infinity,
    ledger: [],
    upcoming: { heap: [], before: (a, b) => a.ms < b.ms || (a.ms === b.ms && a.order < b.order) },
    arrivals: { random: random(options.seed, 'arrivals'), count: 0, lastMs: startMs },
    imports: { random: random(options.seed, 'imports'), count: 0 },
    startMs,
    rows: 0,
    bursts: 0,
    nowMs: -Infinity,
    reached: new Map(),
  }
  addHistory(world, startMs)
  addOpenCalls(world, startMs)
  planArrival(world)
  planImport(world, startMs)
  return world
}

/**
 * Lets everything happen that is due until `at`; nothing if that is in the past.
 *
 * @param at seconds since 1970
 * @param conduct what may happen in this time
 */
export function advance(world: World, at: number, conduct: Conduct = defaultSwitches): void {
  const untilMs = Math.round(at * 1000)
  for (;;) {
    const nextMs = world.upcoming.heap[0]?.ms ?? Infinity
    const leavingMs = leavingAt(world, conduct)
    const ms = Math.min(nextMs, leavingMs)
    if (ms > untilMs) break
    world.nowMs = Math.max(world.nowMs, ms)
    if (leavingMs < nextMs) unlist(world, conduct)
    else happen(world, take(world.upcoming)!, conduct)
  }
  world.nowMs = Math.max(world.nowMs, untilMs)
}

/** From now on the calls have no further anomalies; what is turned still turns back. */
export function calm(world: World): void {
  for (const entry of world.entries.values()) {
    if (!entry.life) continue
    entry.life = calmed(entry.life, world.nowMs)
    if (entry.life.endsWhenHealed) end(world, entry, entry.life)
  }
}

/** Ends a call that would last for years. */
function end({ nowMs, upcoming }: World, entry: Entry, { endsWhenHealed: _ends, ...life }: Life): void {
  entry.life = { ...life, endedMs: nowMs + 1 }
  entry.endedMs = nowMs + 1
  put(upcoming, { ms: nowMs + 1, order: entry.order, entry })
}

/** The call as Get Call knows it. */
export function entryOf(world: World, sessionId: string): Entry | undefined {
  const entry = world.entries.get(sessionId)
  return entry?.known ? entry : undefined
}

function happen(world: World, upcoming: Upcoming, conduct: Conduct): void {
  if ('entry' in upcoming) {
    step(world, upcoming.entry, upcoming.ms, conduct)
    return
  }
  if ('import' in upcoming) {
    planImport(world, upcoming.ms)
    for (const life of importedLives(world, upcoming, conduct)) bringIn(world, life, upcoming.order)
    return
  }
  const { life, order, arrival } = upcoming
  if (arrival) planArrival(world)
  if (!arrival || conduct.arrivals) begin(world, life, order, conduct)
}

function begin(world: World, drawn: Life, order: number, conduct: Conduct): void {
  const plain = withReusedId(world, drawn, conduct)
  const { seed, speed } = world.options
  const { life, names } = drawFacts(plain, conduct.facts, { seed, key: plain.sessionId, speed })
  for (const name of names) reach(world.reached, `fact.${name}`)
  const entry = addEntry(world, life, order, life.initiatedMs)
  step(world, entry, life.initiatedMs, conduct)
  if (life.otherRow) addFurtherRow(world, entry, life)
}

/** A call that ended long ago comes into the list. */
function bringIn(world: World, life: Life, order: number): void {
  const entry = addEntry(world, life, order, life.endedMs)
  write(world, 'imported', entry.call)
  settle(world, entry)
}

function addEntry(world: World, life: Life, order: number, atMs: number): Entry {
  const { sessionId, initiatedMs, endedMs, shown } = life
  world.rows++
  const entry: Entry = {
    sessionId,
    beganMs: initiatedMs,
    order,
    row: world.rows,
    sinceMs: Math.max(world.nowMs, initiatedMs),
    life,
    atMs: -Infinity,
    endedMs,
    call: callAt(life, atMs),
    ...(shown ? { shown } : {}),
    known: true,
  }
  world.entries.set(sessionId, entry)
  insert(world.listing, entry)
  return entry
}

/** What happens to a call at `ms`, if anything still does: it may have been calmed since that was planned. */
function step(world: World, entry: Entry, ms: number, conduct: Conduct): void {
  const { life } = entry
  const moment = life && momentAfter(life, entry.atMs)
  if (!moment) {
    settle(world, entry)
    return
  }
  if (moment.ms > ms) {
    put(world.upcoming, { ms: moment.ms, order: entry.order, entry })
    return
  }
  if (conduct.replicaLag + conduct.getCallLag > 0 && entry.atMs !== -Infinity) keepPast(entry, world.nowMs)
  entry.atMs = moment.ms
  entry.call = callAt(life, moment.ms)
  delete entry.text
  if (moment.happening === 'vanished') hide(world, entry)
  if (moment.happening === 'returned' && !show(world, entry, conduct)) return
  write(world, moment.happening, entry.call)
  const next = momentAfter(life, moment.ms)
  if (next) put(world.upcoming, { ms: next.ms, order: entry.order, entry })
  else settle(world, entry)
}

function hide(world: World, entry: Entry): void {
  entry.known = false
  remove(world.listing, entry)
}

/** Shows the call again, in the list unless it is too old for it; false where calls of its age are unknown. */
function show(world: World, entry: Entry, conduct: Conduct): boolean {
  const tooOld = entry.beganMs <= world.unlistedUntilMs
  if (tooOld && conduct.unlisted === 'not_found') {
    world.entries.delete(entry.sessionId)
    return false
  }
  entry.known = true
  if (tooOld) world.unlisted.push(entry)
  else insert(world.listing, entry)
  return true
}

function settle(world: World, entry: Entry): void {
  delete entry.life
  if (!entry.known) world.entries.delete(entry.sessionId)
}
