import { finalStatuses, type FinalStatus } from './call.ts'
import { drawLife, type Life } from './life.ts'
import { put } from './queue.ts'
import { between, chance, exponential, random, weighted, whole, type Random } from './random.ts'
import { MAX_IMPORTS } from './switches.ts'
import { activityAt, PEAK_ACTIVITY } from './weekly-activity.ts'
import type { Conduct, World } from './world.ts'

/** Calls that end in the given ways, with weights, and begin within `seconds` of the clock. */
export type Burst = { calls: number; seconds: number; outcomes: Partial<Record<FinalStatus, number>> }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** An imported call began so long before it comes into the list; calls last a few hours at most. */
const IMPORT_AGE_DAYS = [3, 30] as const
const MAX_IMPORTED_TOGETHER = 40

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

/** Plans the call that arrives next. */
export function planArrival(world: World): void {
  const { options, arrivals } = world
  if (options.callsPerMinute <= 0) return
  const meanMs = 60_000 / options.callsPerMinute
  arrivals.lastMs += gapAfter(arrivals.lastMs, 1, arrivals.random, { meanMs, weekly: options.weekly === true })
  const life = drawLife(random(options.seed, 'call', arrivals.count), options, arrivals.lastMs)
  plan(world, life, arrivals.count, true)
  arrivals.count++
}

export function addHistory(world: World, startMs: number): void {
  const { options } = world
  const { seed, history, historySeconds = Infinity, callsPerMinute, weekly = false } = options
  const meanMs = historySeconds === Infinity ? 60_000 / (callsPerMinute || 1) : (historySeconds * 1000) / history
  const gaps = random(seed, 'history')
  let ms = startMs
  const isWeekly = weekly !== false
  const [most, oldestMs] = isWeekly ? [Infinity, startMs - historySeconds * 1000] : [history, -Infinity]
  for (let i = 1; i <= most; i++) {
    ms -= gapAfter(ms, -1, gaps, { meanMs, weekly: isWeekly })
    if (ms < oldestMs) return
    const life = drawLife(random(seed, 'past', i), options, ms)
    // A call that ended before the start is not seen running: its figures need not be brought up to date.
    plan(world, life.endedMs < startMs ? { ...life, progressMs: Infinity } : life, -i)
  }
}

/**
 * Milliseconds from one call to the next, or to the one before. Where calls follow the week, of the moments at which they
 * begin at the busiest hour each remains with the probability that fits its own hour (Lewis and Shedler 1979).
 */
function gapAfter(
  ms: number,
  direction: 1 | -1,
  gaps: Random,
  { meanMs, weekly }: { meanMs: number; weekly: boolean },
): number {
  if (!weekly) return Math.ceil(exponential(gaps, meanMs))
  let gap = 0
  do gap += Math.ceil(exponential(gaps, meanMs / PEAK_ACTIVITY))
  while (!chance(gaps, activityAt(ms + direction * gap) / PEAK_ACTIVITY))
  return gap
}

export function addOpenCalls(world: World, startMs: number): void {
  const { seed, open } = world.options
  for (let i = 1; i <= open; i++) {
    // Drawn twice from the same stream: once to learn how long it lasts, once at the beginning that follows from it.
    const lasts = drawLife(random(seed, 'open', i), world.options, 0).endedMs
    const part = random(seed, 'open since', i)()
    plan(world, drawLife(random(seed, 'open', i), world.options, startMs - Math.floor(part * lasts)), -0.5 - i)
  }
}

/** Plans when calls may be imported next: as often as the switch can ever ask for. */
export function planImport(world: World, afterMs: number): void {
  const { imports, upcoming } = world
  const ms = afterMs + Math.ceil(exponential(imports.random, HOUR_MS / MAX_IMPORTS))
  put(upcoming, { ms, order: 1e9 + imports.count, import: imports.count })
  imports.count++
}

/** The calls that are imported now, if any, the oldest first: each time has a stream of its own, whatever the switch says. */
export function importedLives(
  { options }: World,
  upcoming: { ms: number; import: number },
  { imports }: Pick<Conduct, 'imports'>,
): Life[] {
  const stream = random(options.seed, 'import', upcoming.import)
  if (stream() * MAX_IMPORTS >= imports) return []
  const count = whole(stream, 1, MAX_IMPORTED_TOGETHER)
  const lives = Array.from({ length: count }, () =>
    drawLife(stream, options, upcoming.ms - Math.round(between(stream, ...IMPORT_AGE_DAYS) * DAY_MS)),
  )
  return lives.toSorted((a, b) => a.initiatedMs - b.initiatedMs)
}

function plan(world: World, life: Life, order: number, arrival = false): void {
  put(world.upcoming, { ms: life.initiatedMs, order, life, arrival })
}
