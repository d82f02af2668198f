import { delay, lastValueFrom, merge, ReplaySubject, takeUntil, tap, timer, type Observable } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { formatSeconds } from '../notify/text/notification-text.ts'
import { startSimulator, type Simulator } from '../simulator/simulator.ts'
import type { WatchedTarget } from '../web/views.ts'
import { auditStore } from './audit-store.ts'
import { compareWithTruth, type Comparison } from './compare-with-truth.ts'
import { startDaemon } from '../daemon/daemon.ts'
import type { DaemonEvent } from '../daemon/daemon-event.ts'
import { demoSummary, notificationLines, transitionLine } from './demo-lines.ts'
import { createLogger } from '../daemon/logger.ts'
import { maskSecrets } from '../daemon/mask-secrets.ts'
import { stopSignal } from './stop-signal.ts'
import { temporaryStore } from './temporary-store.ts'

export type DemoOptions = { speed: number; callsPerMinute: number; seed: number }

/** Seconds. */
const POLL_INTERVAL = 1
const SUMMARY_INTERVAL = 10
const PATIENCE = 5
const FIRST_BURST = 12
const NEXT_BURSTS = 180
const BURST = { calls: 50, seconds: 6 }
/** More than the requests of a look: a page or a call each, 20 of both at most. */
const RECORDED = 50
/** The first may have begun before the service stood still, the second cannot. */
const LAST_LOOKS = 2
/** For the last looks (seconds): two take two intervals, and longer only where the list is very long. */
const LONGEST_END = 30

/**
 * The simulator and the daemon in one process, on loopback. Prints what happens, and how the counters compare with the
 * simulator's own truth.
 *
 * The end is of one moment: asked to stop, the service's time stands still, and the daemon looks at all of it. What it
 * then exports is compared with the truth, and what it left in the store, call by call as by `callwatch audit`, with
 * what the service lists. So what the two say does not depend on when one asks.
 *
 * @returns whether both were equal at the end
 * @throws {StoreError} when there is no place for the store
 */
export async function demo(options: DemoOptions, print: (line: string) => void): Promise<boolean> {
  const { speed, callsPerMinute, seed } = options
  const asked$ = stopSignal()
  const store = temporaryStore()
  let stoodStillAt: number | undefined
  const clock = () => stoodStillAt ?? systemClock.wall()
  const simulator = await startSimulator({ seed, speed, callsPerMinute, clock, mostRecordedResponses: RECORDED })
  try {
    const config = demoConfig(simulator, store)
    const standStill = () => {
      stoodStillAt = systemClock.wall()
      print('the service stands still; the daemon looks a last time')
    }
    const { watched, comparison } = await watchDemo({ config, simulator, asked$, standStill }, options, print)
    print('')
    if (comparison === undefined) {
      print(`nothing is compared: the daemon could not look at everything within ${LONGEST_END} s`)
      return false
    }
    const [report] = await Array.fromAsync(auditStore(config))
    if (report === undefined) throw new Error('the demo has lost its target')
    print('the end:')
    demoSummary(watched, comparison, report).forEach(print)
    return report.equal && comparison.differences.length === 0
  } finally {
    await simulator.close()
  }
}

type DemoWorld = {
  config: Config
  simulator: Simulator
  /** Emits when the demo is to end. */
  asked$: Observable<unknown>
  /** From then on nothing more happens to any call. */
  standStill: () => void
}

/** Runs the daemon to the end; the comparison is that after its last look, undefined where it had none. */
async function watchDemo(
  { config, simulator, asked$, standStill }: DemoWorld,
  { speed, callsPerMinute, seed }: DemoOptions,
  print: (line: string) => void,
): Promise<{ watched: WatchedTarget; comparison: Comparison | undefined }> {
  const stop$ = new ReplaySubject<void>(1)
  const log = createLogger({ level: 'error', mask: maskSecrets([]), stream: process.stderr })
  const daemon = await startDaemon({ config, clock: systemClock, random: Math.random, log, stop$ })
  const [watched] = daemon.targets
  if (watched === undefined) throw new Error('the demo has lost its target')

  print(`callwatch demo: ${callsPerMinute} calls a minute, ${speed} times as fast as life, seed ${seed}`)
  print(`the page:    ${daemon.url}`)
  print(`metrics:     ${daemon.url}metrics`)
  print(`in ${FIRST_BURST} s a burst of ${BURST.calls} calls that fail begins; Ctrl-C ends the demo`)
  print('')

  let last: Comparison | undefined
  let looksLeft: number | undefined
  let summarized = systemClock.monotonic()
  const show = (happened: DaemonEvent) => {
    if (happened.kind !== 'watch') return
    const { event } = happened
    if (event.kind === 'committed') {
      for (const transition of event.committed.ledger.transitions) print(transitionLine(transition))
      for (const notification of event.committed.alerts.notifications) notificationLines(notification).forEach(print)
    }
    // Compared right after a look at everything: nothing newer has been asked for yet.
    if (event.kind !== 'cycle' || event.report.outcome !== 'complete') return
    const comparison = compareWithTruth(watched, simulator)
    if (looksLeft !== undefined) {
      looksLeft -= 1
      if (looksLeft > 0) return
      last = comparison
      stop$.next()
      return
    }
    const due = summarized + SUMMARY_INTERVAL - systemClock.monotonic()
    // While a long list is read it moves on; the next look may find it still.
    if (due > 0 || (comparison.differences.length > 0 && due > -PATIENCE)) return
    summarized = systemClock.monotonic()
    demoSummary(watched, comparison).forEach(print)
  }
  const bursts$ = timer(FIRST_BURST * 1000, NEXT_BURSTS * 1000).pipe(
    takeUntil(asked$),
    tap(() => {
      print(`>>> ${BURST.calls} calls that fail, within ${formatSeconds(BURST.seconds)}`)
      simulator.burst(BURST)
    }),
  )
  const end$ = asked$.pipe(
    tap(() => {
      standStill()
      looksLeft = LAST_LOOKS
    }),
    delay(LONGEST_END * 1000),
    takeUntil(stop$),
    tap(() => stop$.next()),
  )
  await lastValueFrom(merge(bursts$, end$, daemon.events$.pipe(tap(show))), { defaultValue: undefined })
  return { watched, comparison: last }
}

/** Windows and durations fit for people who watch for a minute. */
function demoConfig({ url, keys }: Simulator, store: string): Config {
  return {
    targets: [{ name: 'demo', baseUrl: url, apiKey: keys.fullAccess, query: {} }],
    poll: {
      interval: POLL_INTERVAL,
      pageSize: 1000,
      maxAnswerBytes: 32 * 1024 * 1024,
      timeout: 5,
      retries: 2,
      lookback: 3600,
      // Every look is a whole one, so that every summary can be compared.
      sweepInterval: 1,
      // So many that a look hardly ever waits for them, nor the audit at the end, which may make a quarter of them; and so
      // few that a look's requests are still among the recorded responses when it is compared.
      maxRequestsPerMinute: 2400,
      baseline: 'skip',
      details: 'missing',
      statusMap: {},
    },
    store: { path: store, history: 86_400 },
    http: { host: '127.0.0.1', port: 0 },
    notify: { groupWait: 0, routes: [], mutes: [] },
    alerts: [
      {
        name: 'HighFailureRate',
        signal: { name: 'failure_ratio', reason: 'any', window: 20, minCalls: 10 },
        severity: 'critical',
        breach: 'above',
        threshold: 0.5,
        clear: 0.4,
        match: {},
        by: [],
        for: 3,
        keepFiringFor: 0,
        repeat: 0,
        description: 'More than half of the calls of the last {window} failed.',
      },
    ],
    log: { level: 'error' },
  }
}
