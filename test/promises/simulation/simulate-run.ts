import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { retentionTime } from '../../../src/daemon/retention.ts'
import { updateRollups } from '../../../src/history/rollups.ts'
import type { EvaluationRecord } from '../../../src/alerts/trigger.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Finish, TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { addBurst } from '../../../src/simulator/calls/arrivals.ts'
import { expectedCalls } from '../../kit/world/oracle/expected-calls.ts'
import { drawSwitches } from '../../kit/world/draw-switches.ts'
import { random } from '../../../src/simulator/random.ts'
import { createWorldService, heal, setSwitches, type WorldService } from '../../kit/world/start-world.ts'
import { defaultSwitches, type Switches } from '../../kit/world/switches.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Target } from '../../../src/pipeline/target.ts'
import { virtualClock, type VirtualClock } from '../../kit/virtual-clock.ts'
import { untold } from '../../kit/notifications/untold.ts'
import { alertOracle, type AlertOracle } from './alert-oracle.ts'
import { compareRun } from './compare-run.ts'
import { callsToShow, drawRun, drawSettings, LONGEST_BLIND, LONGEST_OUTAGE, type DrawnRun } from './draw-run.ts'
import { always } from './hazard.ts'
import { hostTime, live } from './live.ts'
import type { DeathPlace } from './mortal-process.ts'
import { FAILURE_RULES, INTERVAL, START } from './simulated-rules.ts'
import { simulatedHooks, type SimulatedHooks } from './simulated-hooks.ts'
import { simulatedReceiver, type SimulatedReceiver } from './simulated-receiver.ts'
import { suppressions, type Suppressions } from './suppressions.ts'
import { simulatedWebhook, type SimulatedWebhook } from './simulated-webhook.ts'

export type RunOptions = {
  seed: number
  /** Virtual days. */
  days: number
  callsPerDay?: number
  /** Exactly these hazards, instead of those that the seed draws. */
  hazards?: readonly string[]
  /** Switches that hold throughout, whatever is drawn. */
  switches?: Partial<Switches>
  /** Seconds, whatever is drawn. */
  lookback?: number
}

/** The result of a run. */
export type RunReport = {
  seed: number
  days: number
  hazards: readonly string[]
  polls: Record<string, number>
  requests: number
  /** Where the process died, and commits that the store refused. */
  crashes: Partial<Record<DeathPlace | 'refused commit', number>>
  /** Fault kinds, facts, oddities and orders that really happened. */
  reached: ReadonlyMap<string, number>
  notifications: number
  /** The longest time without a successful poll though the service could be read (seconds). */
  blind: number
  /** What differs from what the simulator recorded, a line each. */
  differences: string[]
  /** The daemon's log. */
  lines: string[]
}

/** So likely does the store refuse a commit. */
const REFUSALS = 0.002
/** Seconds that a run may take beyond its days, until the service has healed and a sweep is complete. */
const TO_END = 7200
/** Seconds between two deletions of expired rows, where the history is kept for a short time. */
const DELETION_INTERVAL = 600
/** Seconds between two times that finished calls are added up, also those of quarters of an hour that are not over. */
const ROLLUP_INTERVAL = 400
const NOT_OVER = 1200
/** Seconds after which a call that is still open will not end any more. */
const LONGEST_CALL = 6 * 3600

/** The whole of a simulated run: the world, the store that outlives every process, and what is counted. */
export type Run = {
  options: RunOptions
  clock: VirtualClock
  service: WorldService
  store: Store
  receivers: readonly SimulatedReceiver[]
  webhook: SimulatedWebhook
  /** The webhooks of the service, if it sends any. */
  hooks: SimulatedHooks | undefined
  suppressions: Suppressions
  /** By the names of their rules. */
  oracles: ReadonlyMap<string, AlertOracle>
  /** Runs without crashes, whose polls were all committed. */
  isCalm: boolean
  drawn: DrawnRun
  /** The part of the configuration that is active; `lookback` in seconds. */
  settings: { lookback: number; pageSize: number }
  /** How long no poll was successful though the service could be read (seconds), and since when that may be so (UNIX seconds). */
  blind: { longest: number; since: number }
  /** Every call that was counted or excluded, as it was last committed. */
  rows: Map<string, TrackedCall>
  /** Where the store is, unless it is in memory. */
  storeFile: string | undefined
  /** When each cycle ended (UNIX seconds). */
  cycles: number[]
  /** When a confirmed sweep began that ended with a cycle, by the index of the cycle. */
  sweeps: Map<number, number>
  /** How the latest ones went. */
  latest: string[]
  /** What was committed of calls that finished, of evaluations, and of notifications. */
  history: {
    evaluations: EvaluationRecord[]
    finishes: Finish[]
    notified: Notification[]
    /** When the time at which a call had finished moved first (UNIX seconds by the host's clock). */
    movedAt: number
  }
  /** When the process opened the target that got the first answer which is believed (UNIX seconds). */
  setUp: number
  target: Target | undefined
  report: RunReport
}

/**
 * Runs the daemon's own code (loop, client, ledger, store, alerts, receivers) in one process on a virtual clock against
 * the simulated world, with everything that goes wrong drawn from the seed; then heals the world and compares.
 */
export async function simulateRun(options: RunOptions): Promise<RunReport> {
  const { seed, days, callsPerDay = 5000 } = options
  const draw = random(seed, 'run')
  const clock = virtualClock(START)
  const drawn = drawRun(seed, { days, callsPerDay }, options.hazards)
  if (options.lookback !== undefined) drawn.settings.lookback = always(options.lookback)
  drawn.standing = { ...drawn.standing, ...options.switches }
  const isCalm = drawn.kind === 'calm'
  const trouble = drawn.kind === 'troubled'
  const service = createWorldService(
    {
      seed,
      callsPerMinute: callsPerDay / 1440,
      progressSeconds: 60,
      speed: 4,
      ...drawn.past,
      mostRecordedResponses: isCalm ? Infinity : 10,
      mostRecordedCharacters: Infinity,
      switches: { ...drawn.standing, facts: { ...drawn.pastFacts, ...drawn.standing.facts } },
    },
    START,
  )
  /** When each call was first seen, by id: none is started twice. */
  const firstSeen = new Map<string, number>()
  const oracles = new Map(FAILURE_RULES.map((rule) => [rule.name, alertOracle(rule, INTERVAL)]))
  // Deleted rows are read from the file; in memory the rest takes a fraction of the time.
  const isDeleting =
    drawn.settings.retention !== undefined || (trouble && drawn.settings.lookback[0] < days * 86_400 + TO_END)
  const folder = isDeleting ? mkdtempSync(join(tmpdir(), 'callwatch-simtest-')) : undefined
  const memory = openSqliteStore({ path: folder === undefined ? ':memory:' : join(folder, 'store.db') })
  const store: Store = {
    ...memory,
    commit: async (target, commit) => {
      // A full disk or a lock: the process lives on, and nothing of this was kept.
      if (draw() < (isCalm ? 0 : REFUSALS)) {
        run.report.crashes['refused commit'] = (run.report.crashes['refused commit'] ?? 0) + 1
        throw new StoreError('unavailable', 'database is locked')
      }
      await memory.commit(target, commit)
      for (const call of commit.ledger.calls.values()) run.rows.set(call.id, call)
      for (const oracle of oracles.values()) oracle.committed(commit, clock.wall())
      if (commit.evaluated !== undefined) run.history.evaluations.push(commit.evaluated)
      run.history.finishes.push(...commit.ledger.finishes)
      if (commit.ledger.changedFinishes.some(({ before, after }) => before.at !== after.at))
        run.history.movedAt = Math.min(run.history.movedAt, clock.wall())
      run.history.notified.push(...commit.alerts.notifications)
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
  const receivers = drawn.receivers.map((name) => simulatedReceiver(name, random(seed, name), 0.2))
  const host = { seed, wall: () => clock.wall() + drawn.hostAhead, isDrawn: drawn.suppresses }
  const run: Run = {
    options,
    clock,
    service,
    store,
    receivers,
    suppressions: suppressions(host, memory, receivers),
    webhook: simulatedWebhook(random(seed, 'webhook'), 0.2),
    hooks: drawn.sendsWebhooks ? simulatedHooks(service, clock) : undefined,
    oracles,
    isCalm,
    drawn,
    settings: drawSettings(drawn, draw),
    rows: new Map(),
    storeFile: folder && join(folder, 'store.db'),
    blind: { longest: 0, since: START },
    cycles: [],
    sweeps: new Map(),
    latest: [],
    history: { evaluations: [], finishes: [], notified: [], movedAt: Infinity },
    setUp: START,
    target: undefined,
    report: {
      seed,
      days,
      hazards: drawn.hazards,
      polls: {},
      requests: 0,
      crashes: {},
      reached: new Map(),
      notifications: 0,
      blind: 0,
      differences: [],
      lines: [],
    },
  }
  const end = clock.wall() + days * 86_400
  const drawWorld = (): number => {
    const world = drawSwitches(`${seed} ${clock.wall()}`, draw() * drawn.mostIntensity, {
      // Its first answer settles by which clock the target was set up; the expected series use that clock.
      mostDateOffset: isCalm || run.target?.ledger.sync.clockSkew === undefined ? 0 : 1800,
      fewestListedSeconds: 5 * 3600,
      fewestPages: Math.max(20, Math.ceil(callsToShow(days, callsPerDay) / 10)),
    })
    const isShort = drawn.settings.lookback[0] < 4 * 3600
    const { facts } = trouble
      ? withoutFacts(world, 'labels_changed', ...(isShort ? TIMELESS_FACTS : []))
      : withoutFacts(world, ...WILD_FACTS, ...(isCalm ? [] : TIMELESS_FACTS))
    const standing = {
      ...drawn.standing,
      facts: { ...facts, ...drawn.facts, ...drawn.standing.facts },
      odd: { ...world.odd, ...drawn.odd, ...drawn.standing.odd },
    }
    setSwitches(service, { ...world, unlisted: 'found', ...standing })
    // A list that must be read to its end at every poll is worth many virtual hours of another.
    return isReadInPart(service.switches) ? 600 + draw() * 4 * 3600 : 300 + draw() * 600
  }
  let nextSwitch = 0
  let nextDeletion = 0
  let nextRollups = 0
  let outageUntil = 0
  const bursts = drawn.bursts.toSorted((a, b) => a.at - b.at)
  while (clock.wall() < end) {
    await live(run, draw, isCalm ? 0 : 0.0004, async () => {
      if (clock.wall() >= nextSwitch) {
        nextSwitch = clock.wall() + drawWorld()
        for (const receiver of run.receivers) receiver.isDown = draw() < 0.1
        run.webhook.isDown = draw() < 0.1
        // Not soon after another one: a list may show its calls for little longer than one outage.
        if (draw() < (drawn.outages ? 0.1 : 0)) {
          const until = clock.wall() + draw() * LONGEST_OUTAGE
          if (clock.wall() > outageUntil + LONGEST_BLIND) outageUntil = until
        }
      }
      await run.suppressions.tick()
      const { retention } = drawn.settings
      if (retention !== undefined && clock.wall() >= nextDeletion) {
        nextDeletion = clock.wall() + DELETION_INTERVAL
        const now = retentionTime([run.target?.ledger.sync.lastSuccess], { wall: () => hostTime(run) })
        if (now !== undefined) await store.deleteExpired(now - retention)
      }
      if (clock.wall() >= nextRollups) {
        nextRollups = clock.wall() + ROLLUP_INTERVAL
        let after = await updateRollups(store, clock.wall() + NOT_OVER)
        while (after !== undefined) after = await updateRollups(store, clock.wall() + NOT_OVER, after)
      }
      const since = clock.wall() - START
      const spells = drawn.spells.filter(({ from, to }) => from <= since && since < to)
      const ended = drawn.spells.filter(({ to }) => to <= since && since < to + 2 * INTERVAL)
      for (const { switches } of ended) setSwitches(service, defaultsOf(switches))
      for (const { switches } of spells) setSwitches(service, switches)
      const isDown = clock.wall() < outageUntil || spells.some(({ switches }) => switches.outage === true)
      setSwitches(service, { outage: isDown })
      while (bursts.length > 0 && bursts[0]!.at <= since) {
        const { calls, seconds, outcomes = { ended: 3, unanswered: 1 } } = bursts.shift()!
        addBurst(service.world, clock.wall(), { calls, seconds, outcomes })
      }
      return clock.wall() < end
    })
    await clock.advance(draw() * 90)
  }
  heal(service)
  setSwitches(service, { arrivals: false })
  for (const receiver of run.receivers) receiver.isDown = false
  run.webhook.isDown = false
  // Until every call has ended, two cycles and a whole sweep, and all messages are out.
  let quietAt: number | undefined
  const goesOn = async () => {
    if (quietAt === undefined && !hasOpenCalls(service, clock.wall())) quietAt = clock.wall()
    if (quietAt === undefined) return clock.wall() < end + LONGEST_CALL
    const left = quietAt + Math.max(3600, 2 * drawn.settings.sweepInterval) - clock.wall()
    // An alert that ended just now is still told.
    return left > 0 || (left > -600 && (await untold(run.store)).length > 0)
  }
  // What a poll amid the stop has found is told after the next start.
  do await live(run, draw, 0, goesOn)
  while (await goesOn())
  run.hooks?.stop()
  advance(service.world, clock.wall(), service.switches)
  await compareRun(run)
  await memory.close()
  if (folder !== undefined) rmSync(folder, { recursive: true })
  return run.report
}

/** What the switches of a patch are by default. */
function defaultsOf(patch: Partial<Switches>): Partial<Switches> {
  return Object.fromEntries(Object.entries(defaultSwitches).filter(([name]) => name in patch))
}

/** Whether a poll may stop before the end of the list. */
function isReadInPart({ order, total }: Switches): boolean {
  return (order === 'newest' || order === 'oldest') && total === 'given'
}

function hasOpenCalls(service: WorldService, now: number): boolean {
  const open = expectedCalls(service.world.ledger, now)
  return [...open.values()].some(({ final, isVanished }) => !final && !isVanished)
}

/** Without the facts whose expected series depend on when one polls, or of which a row does not keep enough. */
function withoutFacts(switches: Switches, ...names: (keyof Switches['facts'])[]): Switches {
  const facts = { ...switches.facts }
  for (const name of names) delete facts[name]
  return { ...switches, facts }
}

/** With its end in the far future and its other times left out of one answer, an evicted call is one without any time. */
const TIMELESS_FACTS = ['far_future', 'without_ended_at'] as const
const WILD_FACTS = ['final_changed', 'vanished', 'vanished_for_a_while', 'without_ended_at', 'labels_changed'] as const
