import { ALONE } from '../../src/cluster/ownership.ts'
import { pino } from 'pino'
import { merge, NEVER, Subject, tap } from 'rxjs'
import type { Evaluated } from '../../src/alerts/evaluated.ts'
import type { Notification } from '../../src/alerts/notification.ts'
import type { Finish } from '../../src/ledger/tracked-call.ts'
import { watch } from '../../src/daemon/watch.ts'
import type { Config } from '../../src/config/config.ts'
import { COUNTERS } from '../../src/ledger/series.ts'
import type { LedgerState } from '../../src/ledger/state.ts'
import { sumOf } from '../../src/metrics/derived-metrics.ts'
import { deliverOutbox } from '../../src/notify/deliver-outbox.ts'
import { callTruth } from '../../src/simulator/call-truth.ts'
import { createService, setSwitches } from '../../src/simulator/create-service.ts'
import { drawSwitches } from '../../src/simulator/draw-switches.ts'
import { heal } from '../../src/simulator/heal.ts'
import { random } from '../../src/simulator/random.ts'
import type { CallsService } from '../../src/simulator/service.ts'
import type { Switches } from '../../src/simulator/switches.ts'
import { advance } from '../../src/simulator/world.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { StoreError, type Store } from '../../src/store/store.ts'
import type { WatchedTarget } from '../../src/web/views.ts'
import { virtualClock, type VirtualClock } from '../clock/virtual-clock.ts'
import { alertOracle, type AlertOracle } from './alert-oracle.ts'
import { compareRun } from './compare-run.ts'
import { mortalProcess, type DeathPlace } from './mortal-process.ts'
import { INTERVAL, RULES } from './simulated-rules.ts'
import { simulatedSlack, type SimulatedSlack } from './simulated-slack.ts'
import { simulatedTransport } from './simulated-transport.ts'

export type RunOptions = {
  seed: number
  /** Virtual days. */
  days: number
  callsPerDay?: number
}

/** What a run came to. */
export type RunReport = {
  seed: number
  days: number
  polls: Record<string, number>
  requests: number
  /** Where the process died, and commits that the store refused. */
  crashes: Partial<Record<DeathPlace | 'refused commit', number>>
  /** Fault kinds, facts, oddities and orders that really came about. */
  reached: ReadonlyMap<string, number>
  notifications: number
  /** What differs from the truth, a line each; none where the promise holds. */
  differences: string[]
  /** The daemon's log. */
  lines: string[]
}

const START = 1_790_000_000
const SWEEP_INTERVAL = 1800
/** So likely does the store refuse a commit. */
const REFUSALS = 0.002
/** Seconds after which a call that is still open will not end any more. */
const LONGEST_CALL = 6 * 3600

/** The whole of a simulated run: the world, the store that outlives every process, and what is kept count of. */
export type Run = {
  options: RunOptions
  clock: VirtualClock
  service: CallsService
  store: Store
  slack: SimulatedSlack
  oracle: AlertOracle
  /** Runs without crashes, whose looks were all committed. */
  isCalm: boolean
  lookback: number
  /** When each cycle ended (UNIX seconds). */
  cycles: number[]
  /** What was committed of calls that finished, of evaluations, and of what was to be said. */
  history: { evaluations: Evaluated[]; finishes: Finish[]; said: Notification[] }
  watched: WatchedTarget | undefined
  report: RunReport
}

/**
 * Runs the daemon's own code (loop, client, step, store, alerts, outbox) in one process on a virtual clock against the
 * simulated world, with everything that goes wrong drawn from the seed; then heals the world and compares.
 */
export async function simulateRun(options: RunOptions): Promise<RunReport> {
  const { seed, days, callsPerDay = 5000 } = options
  const draw = random(seed, 'run')
  const clock = virtualClock(START)
  const isCalm = seed % 3 === 0
  const trouble = seed % 3 === 2
  const service = createService(
    {
      seed,
      callsPerMinute: callsPerDay / 1440,
      progressSeconds: 60,
      speed: 4,
      history: 200,
      mostRecordedResponses: isCalm ? Infinity : 10,
      mostRecordedCharacters: Infinity,
    },
    START,
  )
  /** When each call was first seen, by id: none is started twice. */
  const firstSeen = new Map<string, number>()
  const oracle = alertOracle(RULES[0], INTERVAL)
  const memory = openSqliteStore({ path: ':memory:' })
  const store: Store = {
    ...memory,
    commit: async (target, commit) => {
      // A full disk or a lock: the process lives on, and nothing of this was kept.
      if (draw() < (isCalm ? 0 : REFUSALS)) {
        run.report.crashes['refused commit'] = (run.report.crashes['refused commit'] ?? 0) + 1
        throw new StoreError('unavailable', 'database is locked')
      }
      await memory.commit(target, commit)
      oracle.committed(commit, clock.wall())
      if (commit.evaluated !== undefined) run.history.evaluations.push(commit.evaluated)
      run.history.finishes.push(...commit.ledger.finishes)
      run.history.said.push(...commit.alerts.notifications)
      for (const { call, from } of commit.ledger.transitions) {
        if (from !== 'none' || call.firstSeen !== commit.ledger.calls.get(call.id)?.firstSeen) continue
        const before = firstSeen.get(call.id)
        firstSeen.set(call.id, call.firstSeen)
        if (before === undefined || before === call.firstSeen) continue
        run.report.differences.push(
          `call ${call.id} was started at ${before} and again at ${call.firstSeen}: ${JSON.stringify(call)}`,
        )
      }
    },
  }
  const run: Run = {
    options,
    clock,
    service,
    store,
    slack: simulatedSlack(random(seed, 'slack'), 0.2),
    oracle,
    isCalm,
    // Where calls are set aside by name, or looks are replayed, nothing may be forgotten; elsewhere that is tested too.
    lookback: trouble || isCalm ? (days + 2) * 86_400 : 4 * 3600,
    cycles: [],
    history: { evaluations: [], finishes: [], said: [] },
    watched: undefined,
    report: {
      seed,
      days,
      polls: {},
      requests: 0,
      crashes: {},
      reached: new Map(),
      notifications: 0,
      differences: [],
      lines: [],
    },
  }
  const end = clock.wall() + days * 86_400
  const drawWorld = (): number => {
    const drawn = drawSwitches(`${seed} ${clock.wall()}`, draw(), {
      // Its first answer settles by which clock the target was set up; the truth is defined by that.
      mostDateOffset: isCalm || clock.wall() < START + 600 ? 0 : 1800,
      fewestListedSeconds: 5 * 3600,
    })
    setSwitches(
      service,
      trouble
        ? withoutFacts(drawn, 'labels_changed')
        : withoutFacts(drawn, ...WILD_FACTS, ...(isCalm ? [] : TIMELESS_FACTS)),
    )
    // A list that must be read to its end at every poll is worth many virtual hours of another.
    return isReadInPart(drawn) ? 600 + draw() * 4 * 3600 : 300 + draw() * 600
  }
  let nextSwitch = 0
  let outageUntil = 0
  while (clock.wall() < end) {
    await live(run, draw, isCalm ? 0 : 0.0004, async () => {
      if (clock.wall() >= nextSwitch) {
        nextSwitch = clock.wall() + drawWorld()
        run.slack.isDown = draw() < 0.1
        if (draw() < 0.1) outageUntil = clock.wall() + draw() * 7200
      }
      setSwitches(service, { outage: clock.wall() < outageUntil })
      return clock.wall() < end
    })
    await clock.advance(draw() * 90)
  }
  heal(service)
  setSwitches(service, { arrivals: false })
  run.slack.isDown = false
  // Until every call has ended, two cycles and a whole sweep, and all messages are out.
  let quietAt: number | undefined
  await live(run, draw, 0, async () => {
    if (quietAt === undefined && !hasOpenCalls(service, clock.wall())) quietAt = clock.wall()
    if (quietAt === undefined) return clock.wall() < end + LONGEST_CALL
    return clock.wall() < quietAt + 2 * SWEEP_INTERVAL
  })
  advance(service.world, clock.wall(), service.switches)
  await compareRun(run)
  return run.report
}

/** One life of the process: until it dies, or `goesOn` says that it is to stop. */
async function live(run: Run, draw: () => number, risk: number, goesOn: () => Promise<boolean>): Promise<void> {
  const { service, report, slack } = run
  const process = mortalProcess(run.clock, draw, risk)
  const { clock } = process
  const store = process.store(run.store)
  const stop$ = new Subject<void>()
  const config = configOf(run)
  const send = process.transport(simulatedTransport(service, clock, draw))
  const watching = watch({
    part: { target: config.targets[0]!, poll: config.poll, rules: config.alerts },
    offset: 0,
    clock,
    random: draw,
    log: pino(
      { level: 'debug', base: null, timestamp: () => `,"time":${clock.wall()}` },
      { write: (line: string) => void report.lines.push(line) },
    ),
    store,
    route: () => ['slack'],
    ownership: ALONE,
    budgets: new Map(),
    stop$,
    transportTo: () => ({ send, close: async () => undefined }),
  })
  await run.clock.advance(0)
  const { watched, run: begin } = await watching
  run.watched = watched
  const delivered$ = deliverOutbox(slack.notifier, {
    store,
    clock,
    groupWait: 10,
    mutes: [],
    alerts: () => [...watched.alerts.values()].map((instance) => ({ target: watched.target, instance })),
    stop$,
  })
  const subscription = merge(
    begin(stop$, NEVER).pipe(
      tap((event) => {
        if (event.kind !== 'cycle') return
        const { outcome, requests, problem } = event.report
        report.polls[outcome] = (report.polls[outcome] ?? 0) + 1
        report.requests += requests.length
        run.cycles.push(clock.wall())
        if (event.report.good && run.cycles.length % 20 === 0) checkIdentity(run, watched.ledger)
        report.lines.push(`${clock.wall()} ${outcome} ${requests.length} ${problem ?? ''}`)
      }),
    ),
    delivered$.pipe(
      tap(({ message, outcome }) => {
        report.lines.push(`${clock.wall()} ${outcome} ${JSON.stringify(message)}`)
      }),
    ),
  ).subscribe()
  while (process.died() === undefined && (await goesOn())) await run.clock.advance(INTERVAL)
  const place = process.died()
  if (place === undefined) {
    stop$.next()
    await run.clock.advance(INTERVAL * 5)
  } else {
    report.crashes[place] = (report.crashes[place] ?? 0) + 1
  }
  subscription.unsubscribe()
}

/** Whether a look may stop before the end of the list. */
function isReadInPart({ order, total }: Switches): boolean {
  return (order === 'newest' || order === 'oldest') && total === 'given'
}

function hasOpenCalls(service: CallsService, now: number): boolean {
  const open = callTruth(service.world.ledger, now)
  return [...open.values()].some(({ final, gone }) => !final && !gone)
}

function checkIdentity({ report, clock }: Run, ledger: LedgerState): void {
  const came = sumOf(ledger, COUNTERS.started) + sumOf(ledger, COUNTERS.reappeared)
  const went = sumOf(ledger, COUNTERS.finished) + sumOf(ledger, COUNTERS.lost) + ledger.open.size
  if (came === went) return
  report.differences.push(`at ${clock.wall()}: started + reappeared = ${came}, finished + lost + open = ${went}`)
}

/** Without the facts for which the truth depends on when one looks, or of which a row does not keep enough. */
function withoutFacts(switches: Switches, ...names: (keyof Switches['facts'])[]): Switches {
  const facts = { ...switches.facts }
  for (const name of names) delete facts[name]
  return { ...switches, facts, unlisted: 'found' }
}

/** With its end in the far future and its other times left out of one answer, a forgotten call is one without any time. */
const TIMELESS_FACTS = ['far_future'] as const
const WILD_FACTS = ['final_changed', 'vanished', 'vanished_for_a_while', 'without_ended_at', 'labels_changed'] as const

function configOf({ options: { seed }, lookback, service }: Run): Config {
  return {
    targets: [{ name: 'simulated', baseUrl: 'http://127.0.0.1/v3', apiKey: service.keys.fullAccess, query: {} }],
    poll: {
      interval: INTERVAL,
      pageSize: [50, 20, 50][seed % 3]!,
      timeout: 10,
      retries: 4,
      lookback,
      sweepInterval: SWEEP_INTERVAL,
      maxRequestsPerMinute: 400,
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
