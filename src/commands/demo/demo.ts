import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import {
  delay,
  exhaustMap,
  filter,
  lastValueFrom,
  merge,
  map,
  ReplaySubject,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { openForCommand } from '../../store/open-store.ts'
import type { CommandStore } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import { formatSeconds } from '../../text/format.ts'
import { startSimulator, type Simulator } from '../../simulator/simulator.ts'
import type { TargetStatus } from '../../pipeline/target.ts'
import { auditStore } from '../audit/store.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import type { DaemonEvent } from '../../daemon/daemon-event.ts'
import { createLogger } from '../../log/logger.ts'
import { maskSecrets } from '../../log/mask-secrets.ts'
import type { Declare } from '../command.ts'
import { positive } from '../options/option-values.ts'
import { stopSignal } from '../stop-signal.ts'
import { compareWithSimulator, type Comparison } from './compare-with-simulator.ts'
import { demoConfig, HOOK } from './config.ts'
import { newLags, type Lags, areDelivered, demoSummary, figuresLine, slackLines } from './lines.ts'
import { startEventReceiver, type EventReceiver } from './event-receiver.ts'
import { freePort } from './free-port.ts'

type DemoOptions = {
  speed: number
  callsPerMinute: number
}

export const declare: Declare = (command, { print, succeed }) =>
  void command
    .option('--speed <n>', 'run calls at this multiple of real time', positive, 20)
    .option('--calls-per-minute <n>', 'start this many calls a minute', positive, 60)
    .action(async (options) => succeed(await demo(options, (line) => print(line))))

/** The page's port, as of any daemon. If it is taken, the next free port is used. */
const FIRST_PORT = 9464
const FIGURES_INTERVAL_SECONDS = 15
const FIRST_BURST_SECONDS = 12
const BURST_INTERVAL_SECONDS = 180
/** Before that, polls alone notice the ends of calls, so that the two lags can be compared. */
const FIRST_WEBHOOK_SECONDS = 30
const BURST = { calls: 50, seconds: 6 }
/** The first calls are counted as well. They span less than the lookback, so that all of them count. */
const HISTORY = { minutes: 55, mostCalls: 5000 }
/** A tenth of the webhooks is lost. */
const WEBHOOK_FAULT = { lost: 0.1 }
/** More than a poll requests, which is at most 20 pages and calls. */
const RECORDED_RESPONSES = 50
/** Something else may be requested between a poll and its comparison, so one that differs is repeated. */
const FINAL_POLLS = 2
/** Before it ends, the demo polls and audits with haste, so that Ctrl-C ends it within two seconds. */
const HASTE = { interval: 0.4, sweepInterval: 0.1, maxRequestsPerMinute: 60_000 }
/** They take longer only if the list is very long, or the machine very busy. */
const FINAL_POLLS_TIMEOUT_SECONDS = 60

/**
 * Runs the simulator and the daemon in one process, on loopback. Prints the messages that Slack would get, and the figures now and then.
 *
 * Before it stops, it freezes the service's time, and lets the daemon poll everything and deliver all events. Then it
 * compares the exported series with what the simulator recorded, and the store with the service's list, call by call like
 * `callwatch audit`. Both comparisons are of that time.
 *
 * @returns whether both comparisons were equal and all events of the log were delivered
 * @throws {StoreError} if the temporary store cannot be created
 */
async function demo(options: DemoOptions, print: (line: string) => void): Promise<boolean> {
  const { speed, callsPerMinute } = options
  const stopRequested$ = stopSignal()
  const store = temporaryStore()
  /** The service's time, once it is frozen. */
  let serviceTime: number | undefined
  const simulator = await startSimulator({
    speed,
    callsPerMinute,
    ...recentCalls(callsPerMinute),
    // Groups meet again and again in the same session, as with the vendor's UI kit.
    switches: { sessions: 'reused' },
    clock: () => serviceTime ?? systemClock.wall(),
    mostRecordedResponses: RECORDED_RESPONSES,
  })
  const receiver = await startEventReceiver((blocks) => slackLines(blocks).forEach(print))
  const log = createLogger({ level: 'error', mask: maskSecrets([]), stream: process.stderr })
  try {
    const config = demoConfig({ simulator, receiver, store, port: await freePort(FIRST_PORT) })
    const freeze = () => {
      serviceTime = systemClock.wall()
      print('stopping: the service is frozen, and the daemon polls a last time')
      return serviceTime
    }
    const world = { config, simulator, receiver, stopRequested$, freeze, log }
    const { target, comparison, logged, lag } = await runDemo(world, options, print)
    print('')
    if (comparison === undefined) {
      print(`not compared: the daemon did not complete its final polls within ${FINAL_POLLS_TIMEOUT_SECONDS} s`)
      return false
    }
    const [report] = await auditStore(inHaste(config))
    if (report === undefined) throw new Error('the demo has no target')
    print('the end:')
    const end = { audit: report, logged, received: receiver.counts() }
    demoSummary(target, comparison, lag, end).forEach(print)
    return report.equal && comparison.differences.length === 0 && areDelivered(end)
  } finally {
    receiver.close()
    await simulator.close()
  }
}

const inHaste = (config: Config): Config => ({ ...config, poll: { ...config.poll, ...HASTE } })

/** The calls of the last minutes. */
const recentCalls = (callsPerMinute: number) => ({
  history: Math.round(Math.min(callsPerMinute * HISTORY.minutes, HISTORY.mostCalls)),
  historySeconds: HISTORY.minutes * 60,
})

type DemoWorld = {
  config: Config
  simulator: Simulator
  receiver: EventReceiver
  /** Emits when the demo must stop. */
  stopRequested$: Observable<unknown>
  /** Stops the service's time, so that no call changes any more, and returns it (UNIX seconds). */
  freeze: () => number
  log: Logger
}

/** How often the demo checks whether all events were delivered (seconds). */
const DELIVERY_CHECK_SECONDS = 0.2

/**
 * Runs the daemon until it stops. `comparison` is that of its final poll (undefined without one), `logged` the number of
 * events in the log.
 */
async function runDemo(
  { config, simulator, receiver, stopRequested$, freeze, log }: DemoWorld,
  { speed, callsPerMinute }: DemoOptions,
  print: (line: string) => void,
): Promise<{ target: TargetStatus; comparison: Comparison | undefined; logged: number; lag: string | undefined }> {
  const draining$ = new ReplaySubject<void>(1)
  const readings$ = stopRequested$.pipe(map(() => ({ config: inHaste(config) })))
  const daemon = await startDaemon({ config, readings$, clock: systemClock, random: Math.random, log, draining$ })
  /** A reload makes another one. */
  const target = () => daemon.targets.loaded()[0]!

  print(`callwatch watches a simulated service: ${callsPerMinute} calls a minute, ${speed} times as fast as real ones`)
  print('')
  print(`  the page:  ${daemon.url}`)
  print(`  metrics:   ${daemon.url}metrics`)
  print('')
  print(`In ${FIRST_BURST_SECONDS} s many calls fail: the message that Slack would get appears here.`)
  print(`Ctrl-C ends the demo, and compares what was counted with what was simulated.`)
  print('')

  const lags = newLags(systemClock.wall())
  const shown = finalPolls(target, simulator, lags)
  const figures$ = timer(FIGURES_INTERVAL_SECONDS * 1000, FIGURES_INTERVAL_SECONDS * 1000).pipe(
    tap(() => print(figuresLine(target(), systemClock.wall()))),
  )
  const scenes$ = merge(figures$, scenes(simulator, daemon.url, lags, print)).pipe(takeUntil(stopRequested$))
  const timeout$ = stopRequested$.pipe(
    tap(() => shown.finish(freeze())),
    delay(FINAL_POLLS_TIMEOUT_SECONDS * 1000),
  )
  await using store = await openForCommand(config.store)
  const logged = () => loggedEvents(store)
  const delivered$ = shown.compared$.pipe(
    switchMap(() => timer(0, DELIVERY_CHECK_SECONDS * 1000)),
    exhaustMap(logged),
    filter((number) => number === receiver.counts().events),
  )
  const drained$ = merge(timeout$, delivered$).pipe(
    take(1),
    tap(() => draining$.next()),
  )
  await lastValueFrom(merge(scenes$, drained$, daemon.events$.pipe(tap(shown.show))), { defaultValue: undefined })
  return { target: target(), comparison: shown.last(), logged: await logged(), lag: lags.line(simulator.webhooks()) }
}

/** The number of events in the log. */
async function loggedEvents(store: Pick<CommandStore, 'latestEvents'>): Promise<number> {
  const [last] = await store.latestEvents(0)
  return last?.total ?? 0
}

/** Compares the counters with what the simulator recorded, once its time is frozen. */
function finalPolls(target: () => TargetStatus, simulator: Simulator, lags: Lags) {
  let last: Comparison | undefined
  const compared$ = new ReplaySubject<Comparison>(1)
  let frozen: number | undefined
  let pollsLeft = FINAL_POLLS
  /** Compares right after a complete poll, before anything newer is requested. */
  const onCompletePoll = () => {
    if (frozen === undefined) return
    const comparison = compareWithSimulator(target(), simulator)
    if (comparison.at < frozen) return
    pollsLeft -= 1
    if (comparison.differences.length === 0 || pollsLeft === 0) compared$.next((last = comparison))
  }
  const show = (event: DaemonEvent) => {
    if (event.kind === 'committed') lags.note(event.committed.ledger.finishes, systemClock.wall())
    if (event.kind === 'polled' && event.report.outcome === 'complete') onCompletePoll()
  }
  return {
    show,
    /** Emits the comparison of the final poll. */
    compared$,
    last: () => last,
    /** The polls that begin from now on are the final ones. @param at the service's time (UNIX seconds) */
    finish: (at: number) => void (frozen = at),
  }
}

/** What happens besides ordinary calls: bursts of failing calls, and from some time on webhooks. */
function scenes(simulator: Simulator, page: string, lags: Lags, print: (line: string) => void): Observable<unknown> {
  const bursts$ = timer(FIRST_BURST_SECONDS * 1000, BURST_INTERVAL_SECONDS * 1000).pipe(
    tap(() => {
      print(`>>> ${BURST.calls} calls fail within ${formatSeconds(BURST.seconds)}`)
      simulator.burst(BURST)
    }),
  )
  const webhooks$ = timer(FIRST_WEBHOOK_SECONDS * 1000).pipe(
    tap(() => {
      print('>>> the service sends webhooks, so that ends are noticed sooner; a tenth of them is lost')
      simulator.setSwitches({ webhookFault: WEBHOOK_FAULT })
      simulator.sendWebhooks(Object.assign(new URL('hooks/demo', page), HOOK))
      lags.withWebhooks(systemClock.wall())
    }),
  )
  return merge(bursts$, webhooks$)
}

/**
 * The path of a store for this process. The store is deleted when the process ends.
 *
 * @throws {StoreError} if its folder cannot be created
 */
function temporaryStore(): string {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'callwatch-'))
    // Runs at every end. After a second Ctrl-C, nothing else would run.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'callwatch.db')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreError('unavailable', `the temporary store cannot be created: ${reason}; set TMPDIR`, error)
  }
}
