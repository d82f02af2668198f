import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { NEVER } from 'rxjs'
import { systemClock } from '../../src/clock/clock.ts'
import type { DaemonEvent } from '../../src/daemon/daemon-event.ts'
import { startDaemon } from '../../src/daemon/daemon.ts'
import { createLogger } from '../../src/log/logger.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { answer, forkedWith } from './answer.ts'
import { measure, type Measured } from './measure.ts'

/** What a daemon counted while it worked. */
export type Worked = Measured & {
  polls: number
  /** Looks for hints that were no polls. */
  hinted: number
  skipped: number
  requests: number
  calls: number
  commits: number
  /** That the commits took, all together. */
  commitSeconds: number
  /** From the end of a call until it was committed, of all that finished meanwhile (seconds). */
  lags: number[]
  /** The most memory that the process has ever had (bytes). */
  peakBytes: number
}

/** The same, and its longest turn of the event loop (seconds). To watch it takes a twentieth of a core. */
export type Watched = Worked & {
  longestTurn: number
  /** How much memory (RSS, bytes) it took at most above what it took before. */
  growth: number
}

type Question = { until?: number; seconds?: number; watched?: boolean }

/** How a daemon is at the moment: its memory (bytes), the targets that it owns, and those of them that it has loaded. */
export type Present = { url: string; rss: number; owned: number; loaded: number }

/** The daemon as `callwatch run` starts it, log and all; it begins to poll with the first question. */
const { file } = forkedWith<{ file: string }>()
const config = loadConfig({ file, env: {}, cwd: import.meta.dirname })
const log = createLogger({ level: config.log.level, mask: (text) => text, stream: process.stdout })
const daemon = await startDaemon({ config, clock: systemClock, random: Math.random, log, draining$: NEVER })

// A timer of a millisecond that notes how much time passed from one run to the next: whatever keeps the loop from
// coming round, in whichever of its phases, one callback or many, makes it late by that. `samplePerIteration` would
// count the waiting for input as well.
const turns = monitorEventLoopDelay({ resolution: 1 })
const nothing = () => ({
  polls: 0,
  hinted: 0,
  skipped: 0,
  requests: 0,
  commits: 0,
  commitSeconds: 0,
  lags: [] as number[],
})
const seen = nothing()
const good = new Map<string, number>()
let isPolling = false

answer(async (question: Question): Promise<Watched | Worked | Present> => {
  const { until, seconds = 0, watched = false } = question
  if (until === undefined && seconds === 0) {
    const [owned, loaded] = [daemon.targets.owned().length, daemon.targets.loaded().length]
    return { url: daemon.url, rss: process.memoryUsage.rss(), owned, loaded }
  }
  Object.assign(seen, nothing())
  if (!isPolling) daemon.events$.subscribe(note)
  isPolling = true
  const work = () => (until === undefined ? sleep(seconds * 1000) : goodPolls(until))
  return watched ? watch(() => measureWork(work)) : measureWork(work)
})

async function measureWork(work: () => Promise<void>): Promise<Worked> {
  const { measured } = await measure(work)
  const calls = daemon.targets.loaded().reduce((sum, { ledger }) => sum + ledger.calls.size, 0)
  return { ...measured, ...seen, calls, peakBytes: process.resourceUsage().maxRSS * 1024 }
}

async function watch(work: () => Promise<Worked>): Promise<Watched> {
  turns.reset()
  turns.enable()
  const before = process.memoryUsage.rss()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
  const worked = await work()
  turns.disable()
  clearInterval(sampling)
  return { ...worked, longestTurn: turns.max / 1e9, growth: peak - before }
}

/** Until each target has had so many good polls. */
async function goodPolls(count: number): Promise<void> {
  while (daemon.targets.loaded().some(({ name }) => (good.get(name) ?? 0) < count)) await sleep(2)
}

function note(happened: DaemonEvent): void {
  if (happened.kind === 'skipped') seen.skipped += 1
  if (happened.kind === 'committed') {
    const now = systemClock.wall()
    seen.commits += 1
    seen.commitSeconds += happened.committed.seconds
    for (const { at } of happened.committed.ledger.finishes) seen.lags.push(now - at)
  }
  if (happened.kind === 'hinted' && happened.requests.length > 0) {
    seen.hinted += 1
    seen.requests += happened.requests.length
  }
  if (happened.kind === 'polled') {
    const { target, report } = happened
    seen.polls += 1
    seen.requests += report.requests.length
    if (report.successful) good.set(target, (good.get(target) ?? 0) + 1)
  }
}
