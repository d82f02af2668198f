import { pino } from 'pino'
import { merge, Subject, tap } from 'rxjs'
import { ALONE } from '../../src/cluster/ownership.ts'
import type { Config } from '../../src/config/config.ts'
import { watch, type Watch, type WatchOptions } from '../../src/daemon/watch.ts'
import { COUNTERS } from '../../src/ledger/series.ts'
import type { LedgerState } from '../../src/ledger/state.ts'
import { sumOf } from '../../src/metrics/derived-metrics.ts'
import { deliverOutbox } from '../../src/notify/deliver-outbox.ts'
import type { AdjustableBudget } from '../../src/polling/rate-budget.ts'
import type { Random } from '../../src/simulator/random.ts'
import { drawSettings } from './draw-run.ts'
import { mortalProcess, type MortalProcess } from './mortal-process.ts'
import type { Run } from './simulate-run.ts'
import { INTERVAL, RULES } from './simulated-rules.ts'
import { simulatedTransport } from './simulated-transport.ts'

/** Polls that are remembered. */
const LATEST = 40
/** So many times an hour is the configuration reloaded, in runs that reload it. */
const RELOADS = 1
/** Intervals after which a cycle that runs on must end, once the configuration is reloaded or the daemon stops. */
const CYCLES_TO_END = 5

/** One life of the process: until it dies, or `goesOn` says that it is to stop. Each begins with settings of its own. */
export async function live(run: Run, draw: Random, risk: number, goesOn: () => Promise<boolean>): Promise<void> {
  const { hostAhead } = run.drawn
  const process = mortalProcess({ ...run.clock, wall: () => run.clock.wall() + hostAhead }, draw, risk)
  const { clock } = process
  const store = process.store(run.store)
  const stop$ = new Subject<void>()
  const budgets = new Map<string, AdjustableBudget>()
  const delivered$ = deliverOutbox(run.slack.notifier, {
    store,
    clock,
    groupWait: 10,
    mutes: [],
    alerts: () => {
      const { watched } = run
      return watched ? [...watched.alerts.values()].map((instance) => ({ target: watched.target, instance })) : []
    },
    stop$,
  })
  const outbox = delivered$.subscribe(({ message, outcome }) => {
    run.report.lines.push(`${clock.wall()} ${outcome} ${JSON.stringify(message)}`)
  })
  let before: Watch | undefined
  let isOver = false
  while (!isOver) {
    run.settings = drawSettings(run.drawn, draw)
    const opened = await openWatch(run, process, { draw, before, budgets, stop$ })
    if (opened === undefined) break
    run.watched = opened.watched
    const pause$ = new Subject<void>()
    const abandon$ = new Subject<void>()
    const progress = { hasEnded: false }
    const cycles = watching(run, opened, pause$, abandon$).subscribe({
      complete: () => void (progress.hasEnded = true),
    })
    let reloads = false
    while (process.died() === undefined && !reloads) {
      isOver = !(await goesOn())
      if (isOver) break
      reloads = run.drawn.reloads && draw() < (RELOADS * INTERVAL) / 3600
      await run.clock.advance(INTERVAL)
    }
    pause$.next()
    for (let i = 0; i < CYCLES_TO_END && !progress.hasEnded && process.died() === undefined; i++)
      await run.clock.advance(INTERVAL)
    abandon$.next()
    await run.clock.advance(0)
    cycles.unsubscribe()
    before = opened
    isOver ||= process.died() !== undefined
  }
  const place = process.died()
  if (place === undefined) {
    stop$.next()
    await run.clock.advance(INTERVAL * CYCLES_TO_END)
  } else {
    run.report.crashes[place] = (run.report.crashes[place] ?? 0) + 1
  }
  outbox.unsubscribe()
}

/** Opens the target, in the place of the watch before where there is one; undefined where the process dies meanwhile. */
async function openWatch(
  run: Run,
  process: MortalProcess,
  { draw, before, budgets, stop$ }: Pick<WatchOptions, 'before' | 'budgets' | 'stop$'> & { draw: Random },
): Promise<Watch | undefined> {
  const { clock } = process
  const config = configOf(run)
  const send = process.transport(simulatedTransport(run.service, { ...clock, wall: run.clock.wall }, draw))
  const opening = watch({
    part: { target: config.targets[0]!, poll: config.poll, rules: config.alerts },
    offset: before?.dueIn() ?? 0,
    before,
    clock,
    random: draw,
    log: pino(
      { level: 'debug', base: null, timestamp: () => `,"time":${clock.wall()}` },
      { write: (line: string) => void run.report.lines.push(line) },
    ),
    store: process.store(run.store),
    route: () => ['slack'],
    ownership: ALONE,
    budgets,
    stop$,
    transportTo: () => ({ send, close: async () => undefined }),
  })
  const opened: { watch?: Watch } = {}
  const noted = opening.then((watch) => void (opened.watch = watch))
  await run.clock.advance(0)
  while (opened.watch === undefined && process.died() === undefined) await Promise.race([noted, run.clock.advance(1)])
  if (before) run.report.lines.push(`${clock.wall()} reloaded ${JSON.stringify(run.settings)}`)
  return opened.watch
}

/** Keeps how long no poll was good, but for times in which the service cannot be read. */
function noteBlindness({ blind, clock, service: { switches } }: Run, good: boolean): void {
  const now = clock.wall()
  blind.longest = Math.max(blind.longest, now - blind.since)
  if (good || switches.outage || switches.indexed < 1) blind.since = now
}

function watching(run: Run, { watched, run: begin }: Watch, pause$: Subject<void>, abandon$: Subject<void>) {
  const { report, clock } = run
  return begin(merge(pause$), abandon$).pipe(
    tap((event) => {
      if (event.kind !== 'cycle') return
      const { outcome, requests, problem, good } = event.report
      report.polls[outcome] = (report.polls[outcome] ?? 0) + 1
      run.latest = [...run.latest.slice(1 - LATEST), outcome]
      report.requests += requests.length
      run.cycles.push(clock.wall())
      noteBlindness(run, good)
      if (good && run.cycles.length % 20 === 0) checkIdentity(run, watched.ledger)
      report.lines.push(`${clock.wall()} ${outcome} ${requests.length} ${problem ?? ''}`)
    }),
  )
}

function checkIdentity({ report, clock }: Run, ledger: LedgerState): void {
  const came = sumOf(ledger, COUNTERS.started) + sumOf(ledger, COUNTERS.reappeared)
  const went = sumOf(ledger, COUNTERS.finished) + sumOf(ledger, COUNTERS.lost) + ledger.open.size
  if (came === went) return
  report.differences.push(`at ${clock.wall()}: started + reappeared = ${came}, finished + lost + open = ${went}`)
}

function configOf({ drawn: { settings }, settings: { lookback, pageSize }, service }: Run): Config {
  return {
    targets: [{ name: 'simulated', baseUrl: 'http://127.0.0.1/v3', apiKey: service.keys.fullAccess, query: {} }],
    poll: {
      interval: INTERVAL,
      pageSize,
      timeout: 10,
      retries: 4,
      lookback,
      sweepInterval: settings.sweepInterval,
      maxAnswerBytes: 32 * 1024 * 1024,
      maxRequestsPerMinute: settings.maxRequestsPerMinute,
      baseline: 'skip',
      details: 'missing',
      statusMap: { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' },
    },
    store: { path: ':memory:', history: 35 * 86_400 },
    http: { host: '127.0.0.1', port: 0 },
    notify: { groupWait: 10, routes: [], mutes: [] },
    alerts: [...RULES],
    log: { level: 'debug' },
  }
}
