import { finalStatuses } from './call.ts'
import type { FinalStatus } from './call.ts'
import { exponential, weighted } from './draw.ts'
import { drawLife } from './life.ts'
import type { Life } from './life.ts'
import { put } from './queue.ts'
import { random } from './random.ts'
import type { World } from './world.ts'

/** Calls that are to end in the given ways, with weights, and begin within `seconds` of the clock. */
export type Burst = { calls: number; seconds: number; outcomes: Partial<Record<FinalStatus, number>> }

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
  arrivals.lastMs += Math.ceil(exponential(arrivals.random, 60_000 / options.callsPerMinute))
  const life = drawLife(random(options.seed, 'call', arrivals.count), options, arrivals.lastMs)
  plan(world, life, arrivals.count, true)
  arrivals.count++
}

export function addHistory(world: World, startMs: number): void {
  const { seed, history, historySeconds, callsPerMinute } = world.options
  const meanMs = historySeconds === undefined ? 60_000 / (callsPerMinute || 1) : (historySeconds * 1000) / history
  const gaps = random(seed, 'history')
  let ms = startMs
  for (let i = 1; i <= history; i++) {
    ms -= Math.ceil(exponential(gaps, meanMs))
    plan(world, drawLife(random(seed, 'past', i), world.options, ms), -i)
  }
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

function plan(world: World, life: Life, order: number, arrival = false): void {
  put(world.upcoming, { ms: life.initiatedMs, order, life, arrival })
}
