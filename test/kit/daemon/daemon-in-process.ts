import { pino } from 'pino'
import { ReplaySubject, Subject, type Subscription } from 'rxjs'
import { expect, onTestFinished, vi } from 'vitest'
import { systemClock, type Clock } from '../../../src/clock/clock.ts'
import type { ConfigReading } from '../../../src/daemon/config-readings.ts'
import { startDaemon, type Daemon } from '../../../src/daemon/daemon.ts'
import type { Reload } from '../../../src/daemon/daemon-event.ts'
import { configOf, type Config } from '../../../src/config/config.ts'
import type { Problem } from '../../../src/config/config-error.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { PollReport } from '../../../src/polling/poll-report.ts'
import { readExposition, type Sample } from '../metrics/read-exposition.ts'

export const KEY = 'hunter2-hunter2'
/** Further attempts at a request that may succeed yet. */
export const RETRIES = 1

/** Of what a daemon does soon: on a busy machine, that may take long. */
export const WAIT = { timeout: 60_000, interval: 20 }

/** For one request (seconds): a machine may stand still for some. */
const TIMEOUT = 30

export type LogLine = { level: number; target?: string; msg: string }

export type DaemonInProcess = {
  daemon: Daemon
  /** Stops it; resolves when everything is closed. */
  stop: () => Promise<void>
  /** Ends it as a kill would, as far as that can be in one process: nothing is closed, and it does nothing more. */
  kill: () => void
  polls: PollReport[]
  log: LogLine[]
  /** Resolves when that many more polls have ended. */
  morePolls: (count: number) => Promise<void>
  /** Resolves when a poll that began from now on was successful. */
  recovered: () => Promise<void>
  readyz: () => Promise<{ status: number; body: string }>
  /** Resolves when it is ready. On a busy machine, a target that is polled each 0.1 s is stale now and then. */
  ready: () => Promise<void>
  samples: () => Promise<Sample[]>
  /** The configuration says this from now on; resolves when it was reloaded or refused. */
  reload: (change: Partial<Config> | Problem[]) => Promise<Reload>
}

/** A daemon with one target on quick intervals, in memory, unless something else is said; stopped after the test. */
export async function daemonInProcess(
  baseUrl: string,
  poll: Partial<Config['poll']> = {},
  differing: Partial<Config> = {},
  resetTarget?: string,
  clock: Clock = systemClock,
): Promise<DaemonInProcess> {
  const draining$ = new ReplaySubject<void>(1)
  const readings$ = new Subject<ConfigReading>()
  const log: LogLine[] = []
  const config = { ...configTo(baseUrl, poll), ...differing }
  const daemon = await started({
    config,
    readings$,
    clock,
    // Without waits between attempts.
    random: () => 0,
    log: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    draining$,
    resetTarget,
  })
  const polls: PollReport[] = []
  const reloads: Reload[] = []
  let latest: Config = config
  let running: Subscription | undefined
  let isKilled = false
  const done = new Promise<void>((resolve, reject) => {
    running = daemon.events$.subscribe({
      next: (event) => {
        if (event.kind === 'polled') polls.push(event.report)
        if (event.kind === 'reload') reloads.push(event.reload)
      },
      error: reject,
      complete: resolve,
    })
  })
  const stop = async () => {
    draining$.next()
    if (!isKilled) await done
  }
  onTestFinished(stop)
  const until = (condition: () => boolean) =>
    vi.waitFor(
      () => {
        if (!condition()) throw new Error(`not within a minute; the latest poll: ${JSON.stringify(polls.at(-1))}`)
      },
      { timeout: 60_000, interval: 10 },
    )
  const readyz = async () => {
    const response = await fetch(`${daemon.url}readyz`)
    return { status: response.status, body: await response.text() }
  }
  return {
    daemon,
    stop,
    kill: () => {
      isKilled = true
      running?.unsubscribe()
    },
    polls,
    log,
    morePolls: (count) => {
      const goal = polls.length + count
      return until(() => polls.length >= goal)
    },
    recovered: () => {
      const since = polls.length
      return until(() => polls.slice(since).some(({ successful }) => successful))
    },
    readyz,
    ready: () => vi.waitFor(async () => expect(await readyz()).toMatchObject({ status: 200 }), { timeout: 60_000 }),
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

/** A database may not answer within half a lease while the machine stands still: the daemon is then started again, as a supervisor does. */
async function started(options: Parameters<typeof startDaemon>[0]): Promise<Daemon> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await startDaemon(options)
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === 'unavailable') || attempts === 20) throw error
    }
  }
}

export function configTo(baseUrl: string, poll: Partial<Config['poll']> = {}): Config {
  const config = configOf({
    targets: [{ name: 'production', base_url: baseUrl, api_key: KEY }],
    poll: { page_size: 1000, retries: RETRIES, lookback: '1h', sweep_interval: '1m', baseline: 'count' },
    store: { path: ':memory:', history: '1d' },
    http: { host: '127.0.0.1', port: 0 },
    notify: { group_by: ['target', 'severity'], group_wait: 0, group_interval: 0 },
    alerts: [],
  })
  return {
    ...config,
    poll: { ...config.poll, interval: 0.1, timeout: TIMEOUT, maxRequestsPerMinute: 100_000, ...poll },
  }
}
