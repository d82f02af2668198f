import { callAt } from './call-at.ts'
import { finalStatuses } from './call.ts'
import type { Call, FinalStatus } from './call.ts'
import { exponential, weighted } from './draw.ts'
import { ledgerEvent } from './ledger.ts'
import type { LedgerEvent } from './ledger.ts'
import { drawLife } from './life.ts'
import type { Life, Manners } from './life.ts'
import { momentAfter } from './moment.ts'
import type { Moment } from './moment.ts'
import { put, take } from './queue.ts'
import type { Queue } from './queue.ts'
import { random } from './random.ts'
import type { Random } from './random.ts'

/** What chance does not decide about a world. */
export type WorldOptions = Manners & {
  seed: number | string
  /** Mean number of calls that begin in a minute of the clock, whatever the speed; 0 or more. */
  callsPerMinute: number
  /** Calls that began before the start. */
  history: number
  /** Seconds before the start over which the history is spread; absent: as its number and callsPerMinute make it. */
  historySeconds?: number
  /** Calls, besides the history, that began before the start and end after it. */
  open: number
}

/** Calls that are to end in the given ways, with weights, and begin within `seconds` of the clock. */
export type Burst = { calls: number; seconds: number; outcomes: Partial<Record<FinalStatus, number>> }

/**
 * The calls and what has happened to them. Each life is drawn whole when its call is created, from a random stream of
 * its own, so that a world is the same however often or seldom it is advanced. It is changed in place.
 */
export type World = {
  options: WorldOptions
  /** Every call that has begun, oldest first, with the figures that its last ledger event left. */
  calls: Call[]
  /** Where in `calls` a session stands. */
  positions: Map<string, number>
  ledger: LedgerEvent[]
  upcoming: Queue<Upcoming>
  arrivals: { random: Random; count: number; lastMs: number }
  bursts: number
}

/** `order` is the life's own: it decides between things that happen in the same millisecond. */
type Upcoming = { life: Life; moment: Moment; order: number; arrival: boolean }

/** @param start seconds since 1970: before it lies the history, after it the calls arrive */
export function createWorld(options: WorldOptions, start: number): World {
  const startMs = Math.round(start * 1000)
  const world: World = {
    options,
    calls: [],
    positions: new Map(),
    ledger: [],
    upcoming: {
      heap: [],
      before: (a, b) => a.moment.ms < b.moment.ms || (a.moment.ms === b.moment.ms && a.order < b.order),
    },
    arrivals: { random: random(options.seed, 'arrivals'), count: 0, lastMs: startMs },
    bursts: 0,
  }
  addHistory(world, startMs)
  addOpenCalls(world, startMs)
  planArrival(world)
  return world
}

/**
 * Lets everything happen that is due until `at`; nothing if that is in the past.
 *
 * @param at seconds since 1970
 * @param arrivals false: the calls that would begin in this time do not
 */
export function advance(world: World, at: number, arrivals = true): void {
  const untilMs = Math.round(at * 1000)
  while ((world.upcoming.heap[0]?.moment.ms ?? Infinity) <= untilMs) {
    const { life, moment, order, arrival } = take(world.upcoming)!
    if (arrival) planArrival(world)
    if (arrival && !arrivals) continue
    happen(world, life, moment)
    const next = momentAfter(life, moment.ms)
    if (next) put(world.upcoming, { life, moment: next, order, arrival: false })
  }
}

/** Adds calls that begin one after the other from `at` (seconds since 1970) on. */
export function addBurst(world: World, at: number, burst: Burst): void {
  world.bursts++
  const startMs = Math.round(at * 1000)
  const outcomes = finalStatuses.map((status) => [status, burst.outcomes[status] ?? 0] as const)
  for (let i = 0; i < burst.calls; i++) {
    const stream = random(world.options.seed, 'burst', world.bursts, i)
    const initiatedMs = startMs + Math.round((i * burst.seconds * 1000) / burst.calls)
    const life = drawLife(stream, world.options, initiatedMs, weighted(stream, outcomes))
    plan(world, life, world.bursts * 1e6 + i + 0.5)
  }
}

export function callOf(world: World, sessionId: string): Call | undefined {
  const position = world.positions.get(sessionId)
  return position === undefined ? undefined : world.calls[position]
}

function happen(world: World, life: Life, moment: Moment): void {
  const call = callAt(life, moment.ms)
  const position = world.positions.get(call.sessionId) ?? world.calls.length
  world.positions.set(call.sessionId, position)
  world.calls[position] = call
  world.ledger.push(ledgerEvent(moment.ms, moment.happening, call))
}

function planArrival(world: World): void {
  const { options, arrivals } = world
  if (options.callsPerMinute <= 0) return
  arrivals.lastMs += Math.ceil(exponential(arrivals.random, 60_000 / options.callsPerMinute))
  const life = drawLife(random(options.seed, 'call', arrivals.count), options, arrivals.lastMs)
  plan(world, life, arrivals.count, true)
  arrivals.count++
}

function plan(world: World, life: Life, order: number, arrival = false): void {
  put(world.upcoming, { life, moment: momentAfter(life, -Infinity)!, order, arrival })
}

function addHistory(world: World, startMs: number): void {
  const { seed, history, historySeconds, callsPerMinute } = world.options
  const meanMs = historySeconds === undefined ? 60_000 / (callsPerMinute || 1) : (historySeconds * 1000) / history
  const gaps = random(seed, 'history')
  let ms = startMs
  for (let i = 1; i <= history; i++) {
    ms -= Math.ceil(exponential(gaps, meanMs))
    plan(world, drawLife(random(seed, 'past', i), world.options, ms), -i)
  }
}

function addOpenCalls(world: World, startMs: number): void {
  const { seed, open } = world.options
  for (let i = 1; i <= open; i++) {
    // Drawn twice from the same stream: once to learn how long it lasts, once at the beginning that follows from it.
    const lasts = drawLife(random(seed, 'open', i), world.options, 0).endedMs
    const part = random(seed, 'open since', i)()
    plan(world, drawLife(random(seed, 'open', i), world.options, startMs - Math.floor(part * lasts)), -0.5 - i)
  }
}
