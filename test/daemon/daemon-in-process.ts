import { pino } from 'pino'
import { ReplaySubject, Subject, type Subscription } from 'rxjs'
import { onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/clock/clock.ts'
import type { Reading } from '../../src/daemon/config-readings.ts'
import { startDaemon, type Daemon } from '../../src/daemon/daemon.ts'
import type { Reload } from '../../src/daemon/take-over.ts'
import type { Config } from '../../src/config/config.ts'
import type { Problem } from '../../src/config/config-error.ts'
import type { CycleReport } from '../../src/polling/cycle-report.ts'
import { readExposition, type Sample } from '../metrics/read-exposition.ts'

export const KEY = 'hunter2-hunter2'
/** Further attempts at a request that may succeed yet. */
export const RETRIES = 1

/** For one request (seconds). */
export const TIMEOUT = 0.3

export type LogLine = { level: number; target?: string; msg: string }

export type DaemonInProcess = {
  daemon: Daemon
  /** Asks it to stop; resolves when everything is closed. */
  stop: () => Promise<void>
  /** Ends it as a kill would, as far as that can be in one process: nothing is closed, and it does nothing more. */
  kill: () => void
  cycles: CycleReport[]
  log: LogLine[]
  /** Resolves when that many more cycles have ended. */
  moreCycles: (count: number) => Promise<void>
  /** Resolves when a cycle that began from now on went well. */
  recovered: () => Promise<void>
  readyz: () => Promise<{ status: number; body: string }>
  samples: () => Promise<Sample[]>
  /** The configuration says this from now on; resolves when that was taken over, or refused. */
  reload: (change: Partial<Config> | Problem[]) => Promise<Reload>
}

/** A daemon with one target on quick intervals, in memory, unless something else is said; stopped after the test. */
export async function daemonInProcess(
  baseUrl: string,
  poll: Partial<Config['poll']> = {},
  differing: Partial<Config> = {},
  resetTarget?: string,
): Promise<DaemonInProcess> {
  const stop$ = new ReplaySubject<void>(1)
  const readings$ = new Subject<Reading>()
  const log: LogLine[] = []
  const config = { ...configOf(baseUrl, poll), ...differing }
  const daemon = await startDaemon({
    config,
    readings$,
    clock: systemClock,
    // Without waits between attempts.
    random: () => 0,
    log: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    stop$,
    resetTarget,
  })
  const cycles: CycleReport[] = []
  const reloads: Reload[] = []
  let latest: Config = config
  let running: Subscription | undefined
  let isKilled = false
  const done = new Promise<void>((resolve, reject) => {
    running = daemon.events$.subscribe({
      next: (happened) => {
        if (happened.kind === 'watch' && happened.event.kind === 'cycle') cycles.push(happened.event.report)
        if (happened.kind === 'reload') reloads.push(happened.reload)
      },
      error: reject,
      complete: resolve,
    })
  })
  const stop = async () => {
    stop$.next()
    if (!isKilled) await done
  }
  onTestFinished(stop)
  const until = (condition: () => boolean) =>
    vi.waitFor(
      () => {
        if (!condition()) throw new Error(`not within 8 s; the latest cycle: ${JSON.stringify(cycles.at(-1))}`)
      },
      { timeout: 8000, interval: 10 },
    )
  return {
    daemon,
    stop,
    kill: () => {
      isKilled = true
      running?.unsubscribe()
    },
    cycles,
    log,
    moreCycles: (count) => {
      const goal = cycles.length + count
      return until(() => cycles.length >= goal)
    },
    recovered: () => {
      const since = cycles.length
      return until(() => cycles.slice(since).some(({ good }) => good))
    },
    readyz: async () => {
      const response = await fetch(`${daemon.url}readyz`)
      return { status: response.status, body: await response.text() }
    },
    samples: async () => {
      const families = readExposition(await (await fetch(`${daemon.url}metrics`)).text())
      return [...families.values()].flatMap(({ samples }) => samples)
    },
    reload: async (change) => {
      const before = reloads.length
      const isRefused = Array.isArray(change)
      if (!isRefused) latest = { ...latest, ...change }
      readings$.next(isRefused ? { problems: change } : { config: latest })
      await until(() => reloads.length > before)
      return reloads.at(-1)!
    },
  }
}

function configOf(baseUrl: string, poll: Partial<Config['poll']>): Config {
  return {
    targets: [{ name: 'production', baseUrl, apiKey: KEY, query: {} }],
    poll: {
      interval: 0.1,
      pageSize: 1000,
      maxAnswerBytes: 32 * 1024 * 1024,
      timeout: TIMEOUT,
      retries: RETRIES,
      lookback: 3600,
      sweepInterval: 60,
      maxRequestsPerMinute: 100_000,
      baseline: 'count',
      details: 'missing',
      statusMap: {},
      ...poll,
    },
    store: { path: ':memory:', history: 86_400 },
    http: { host: '127.0.0.1', port: 0 },
    notify: { groupWait: 0, routes: [], mutes: [] },
    alerts: [],
    log: { level: 'info' },
  }
}
