import { chance, exponential, type Random, random, weighted } from '../random.ts'
import type { Extension } from '../extension.ts'
import { finalStatuses, type FinalStatus } from './call.ts'
import { drawLife } from './life.ts'
import { planCall, type World, type WorldOptions } from './world.ts'

/** Weights of how often calls begin in each hour of the day, and on each day of the week from Sunday on (UTC). */
const HOURS = [4, 3, 2, 2, 3, 6, 12, 20, 30, 38, 40, 38, 32, 36, 40, 39, 35, 30, 27, 25, 22, 17, 11, 7]
const DAYS = [5, 12, 13, 13, 13, 12, 6]

const mean = (weights: readonly number[]) => weights.reduce((sum, weight) => sum + weight, 0) / weights.length
const MEAN = mean(HOURS) * mean(DAYS)

/** How often calls begin at a time, relative to the mean of the week: 0.1 is a tenth of the mean. */
function activityAt(ms: number): number {
  const date = new Date(ms)
  return (HOURS[date.getUTCHours()]! * DAYS[date.getUTCDay()]!) / MEAN
}

const PEAK_ACTIVITY = (Math.max(...HOURS) * Math.max(...DAYS)) / MEAN

type Rhythm = { meanMs: number; weekly: boolean }

/**
 * Milliseconds to the next call, or to the previous one. If calls follow the week, call times are drawn at the rate of the
 * busiest hour, and each is kept with the probability of its own hour (Lewis and Shedler 1979).
 */
function gapAfter(ms: number, direction: 1 | -1, gaps: Random, { meanMs, weekly }: Rhythm): number {
  if (!weekly) return Math.ceil(exponential(gaps, meanMs))
  let gap = 0
  do gap += Math.ceil(exponential(gaps, meanMs / PEAK_ACTIVITY))
  while (!chance(gaps, activityAt(ms + direction * gap) / PEAK_ACTIVITY))
  return gap
}

/** Calls that begin within `seconds` of the clock, and end with the given outcomes, by weight. */
export type Burst = { calls: number; seconds: number; outcomes: Partial<Record<FinalStatus, number>> }

/** @param start the history is before this time, and new calls arrive after it (UNIX seconds) */
export function createWorld(options: WorldOptions, start: number, extension: Partial<Extension> = {}): World {
  const startMs = Math.round(start * 1000)
  const world: World = {
    options,
    extension,
    listing: [],
    entries: new Map(),
    rooms: new Map(),
    unlisted: [],
    ledger: [],
    upcoming: [],
    arrivals: { random: random(options.seed, 'arrivals'), count: 0, lastMs: startMs },
    bursts: 0,
    nowMs: -Infinity,
  }
  addHistory(world, startMs)
  addOpenCalls(world, startMs)
  planArrival(world)
  return world
}

function addHistory(world: World, startMs: number): void {
  const { options } = world
  const { seed, history, historySeconds = Infinity, callsPerMinute, weekly = false } = options
  const meanMs = historySeconds === Infinity ? 60_000 / (callsPerMinute || 1) : (historySeconds * 1000) / history
  const gaps = random(seed, 'history')
  let ms = startMs
  const [most, oldestMs] = weekly ? [Infinity, startMs - historySeconds * 1000] : [history, -Infinity]
  for (let i = 1; i <= most; i++) {
    ms -= gapAfter(ms, -1, gaps, { meanMs, weekly })
    if (ms < oldestMs) return
    const life = drawLife(random(seed, 'past', i), options, ms)
    // A call that ended before the start is never seen running, so its figures need no updates.
    planCall(world, life.endedMs < startMs ? { ...life, progressMs: Infinity } : life, -i)
  }
}

function addOpenCalls(world: World, startMs: number): void {
  const { options } = world
  for (let i = 1; i <= options.open; i++) {
    // Drawn twice from the same stream: first to learn how long the call lasts, then with the start that follows from that.
    const lasts = drawLife(random(options.seed, 'open', i), options, 0).endedMs
    const sinceMs = Math.floor(random(options.seed, 'open since', i)() * lasts)
    planCall(world, drawLife(random(options.seed, 'open', i), options, startMs - sinceMs), -0.5 - i)
  }
}

/** Adds calls that begin one after the other, from `at` on (UNIX seconds). */
export function addBurst(world: World, at: number, burst: Burst): void {
  world.bursts++
  const startMs = Math.round(at * 1000)
  const outcomes = finalStatuses.map((status) => [status, burst.outcomes[status] ?? 0] as const)
  for (let i = 0; i < burst.calls; i++) {
    const stream = random(world.options.seed, 'burst', world.bursts, i)
    const initiatedMs = startMs + Math.round((i * burst.seconds * 1000) / burst.calls)
    const life = drawLife(stream, world.options, initiatedMs, weighted(stream, outcomes))
    planCall(world, life, world.bursts * 1e6 + i + 0.5)
  }
}

/** Plans the next call to arrive. That call then plans the one after it. */
function planArrival(world: World): void {
  const { options, arrivals } = world
  if (options.callsPerMinute <= 0) return
  const meanMs = 60_000 / options.callsPerMinute
  arrivals.lastMs += gapAfter(arrivals.lastMs, 1, arrivals.random, { meanMs, weekly: options.weekly === true })
  const life = drawLife(random(options.seed, 'call', arrivals.count), options, arrivals.lastMs)
  planCall(world, life, arrivals.count++, (switches) => {
    planArrival(world)
    return switches.arrivals
  })
}
