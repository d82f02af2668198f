import { ignoreElements, lastValueFrom, merge, takeUntil, tap, timer } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { formatSeconds } from '../notify/notification-text.ts'
import { startSimulator, type Simulator } from '../simulator/simulator.ts'
import { compareWithTruth, type Comparison } from './compare-with-truth.ts'
import { startDaemon } from './daemon.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { demoSummary, notificationLines, transitionLine } from './demo-lines.ts'
import { createLogger } from './logger.ts'
import { maskSecrets } from './mask-secrets.ts'
import { stopSignal } from './stop-signal.ts'

export type DemoOptions = { speed: number; callsPerMinute: number; seed: number }

/** Seconds. */
const POLL_INTERVAL = 1
const SUMMARY_INTERVAL = 10
const PATIENCE = 5
const FIRST_BURST = 12
const NEXT_BURSTS = 180
const BURST = { calls: 50, seconds: 6 }

/**
 * The simulator and the daemon in one process, on loopback, without a file. Prints what happens, and how the counters
 * compare with the simulator's own truth.
 *
 * @returns whether they were equal at the end
 */
export async function demo(
  { speed, callsPerMinute, seed }: DemoOptions,
  print: (line: string) => void,
): Promise<boolean> {
  const simulator = await startSimulator({ seed, speed, callsPerMinute, mostRecordedResponses: 50 })
  const stop$ = stopSignal()
  const log = createLogger({ level: 'error', mask: maskSecrets([]), stream: process.stderr })
  const config = demoConfig(simulator)
  const daemon = await startDaemon({ config, clock: systemClock, random: Math.random, log, stop$ })
  const [watched] = daemon.targets
  if (watched === undefined) throw new Error('the demo has lost its target')

  print(`callwatch demo: ${callsPerMinute} calls a minute, ${speed} times as fast as life, seed ${seed}`)
  print(`the page:    ${daemon.url}`)
  print(`metrics:     ${daemon.url}metrics`)
  print(`in ${FIRST_BURST} s a burst of ${BURST.calls} calls that fail begins; Ctrl-C ends the demo`)
  print('')

  let comparison: Comparison | undefined
  let summarized = systemClock.monotonic()
  const show = (happened: DaemonEvent) => {
    if (happened.kind === 'delivery') return
    const { event } = happened
    if (event.kind === 'committed') {
      for (const transition of event.committed.ledger.transitions) print(transitionLine(transition))
      for (const notification of event.committed.alerts.notifications) notificationLines(notification).forEach(print)
    }
    // Compared right after a look at everything: nothing newer has been asked for yet.
    if (event.kind !== 'cycle' || event.report.outcome !== 'complete') return
    comparison = compareWithTruth(watched, simulator)
    const due = summarized + SUMMARY_INTERVAL - systemClock.monotonic()
    // While a long list is read it moves on; the next look may find it still.
    if (due > 0 || (comparison.differences.length > 0 && due > -PATIENCE)) return
    summarized = systemClock.monotonic()
    demoSummary(watched, comparison).forEach(print)
  }
  const bursts$ = timer(FIRST_BURST * 1000, NEXT_BURSTS * 1000).pipe(
    takeUntil(stop$),
    tap(() => {
      print(`>>> ${BURST.calls} calls that fail, within ${formatSeconds(BURST.seconds)}`)
      simulator.burst(BURST)
    }),
    ignoreElements(),
  )
  await lastValueFrom(merge(bursts$, daemon.events$.pipe(tap(show))), { defaultValue: undefined })
  await simulator.close()

  print('')
  if (comparison === undefined) {
    print('the demo ended before its first look did')
    return false
  }
  print('the end:')
  demoSummary(watched, comparison).forEach(print)
  return comparison.differences.length === 0
}

/** Windows and durations fit for people who watch for a minute. */
function demoConfig({ url, keys }: Simulator): Config {
  return {
    targets: [{ name: 'demo', baseUrl: url, apiKey: keys.fullAccess, query: {} }],
    poll: {
      interval: POLL_INTERVAL,
      pageSize: 1000,
      timeout: 5,
      retries: 2,
      lookback: 3600,
      // Every look is a whole one, so that every summary can be compared.
      sweepInterval: 1,
      maxRequestsPerMinute: 1000,
      baseline: 'skip',
      details: 'missing',
      statusMap: {},
    },
    store: { path: ':memory:', history: 86_400 },
    http: { host: '127.0.0.1', port: 0 },
    notify: { groupWait: 0 },
    alerts: [
      {
        name: 'HighFailureRate',
        signal: 'failure_ratio',
        reason: 'any',
        severity: 'critical',
        window: 20,
        above: 0.5,
        clear: 0.4,
        minCalls: 10,
        for: 3,
        description: 'More than half of the calls of the last {window} failed.',
      },
    ],
    log: { level: 'error' },
  }
}
