import type { Rule } from '../../src/alerts/rule.ts'
import type { Clock } from '../../src/clock/clock.ts'
import type { WindowEnd } from '../../src/ledger/failure-ratio.ts'
import type { Observation } from '../../src/ledger/observation.ts'
import type { Finish } from '../../src/ledger/tracked-call.ts'
import { DERIVED_METRICS } from '../../src/metrics/derived-metrics.ts'
import type { OperationalMetrics } from '../../src/metrics/operational-metrics.ts'
import { recordPoll } from '../../src/metrics/record.ts'
import { initSeries } from '../../src/metrics/series.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { between } from '../../src/simulator/random.ts'
import { random } from '../../src/simulator/random.ts'
import { openSqliteStore } from '../../src/store/open-sqlite.ts'
import { commitObservation, tick } from '../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../src/pipeline/target.ts'
import { pollConfig, targetConfig } from '../pipeline/settings.ts'
import { CREATED, KNOWN_LIST, listed as listedAt, seen } from '../ledger/seen.ts'
import { isIn, LASTS, OUTAGES, RESTARTS } from './episodes.ts'
import { seededCalls, type SeededCall } from './seeded-calls.ts'

/**
 * Seconds between two polls, and between two scrapes. Prometheus evaluates at the scrapes: both ends of a window are
 * samples, and `increase` does not extrapolate. At other times it may be off by a call.
 */
export const INTERVAL = 60
/** A poll starts so many seconds before its scrape. */
const POLLED_BEFORE = 20
/** Seconds between two sweeps. */
const SWEEP_INTERVAL = 900
const TARGET = 'production'

/** A scrape, with the alerts of callwatch at the same time. Times are seconds since the start of the history. */
export type Scrape = {
  at: number
  /** Whether the daemon was running. */
  up: boolean
  /** Series by their name and labels. */
  series: ReadonlyMap<string, number>
  /** The alerts that are firing or recovering. */
  firing: ReadonlySet<string>
  /** The poll before the scrape, with the calls that it found finished; undefined if it failed. */
  poll: SuccessfulPoll | undefined
}

export type SuccessfulPoll = WindowEnd & { finishes: readonly Finish[] }

type Daemon = { target: Target; operational: OperationalMetrics }

/**
 * Runs a daemon on the seeded calls: the real ledger, store, rules and metrics, on a virtual clock.
 *
 * @param metrics the names of the metrics to scrape
 */
export async function pollHistory(seed: number, rules: readonly Rule[], metrics: ReadonlySet<string>) {
  const calls = seededCalls(seed)
  const draw = random(seed, 'looks')
  const store = openSqliteStore({ path: ':memory:' })
  let now = -INTERVAL
  const clock: Clock = {
    wall: () => CREATED + now,
    monotonic: () => now,
    get scheduler(): never {
      throw new Error('nothing in this history uses the scheduler')
    },
  }
  const open = async () => {
    const { operational } = metricsOf(() => [], '1')
    initSeries(operational, 'target', TARGET)
    operational.targets.set(1)
    operational.targetsOwned.set(1)
    const poll = pollConfig({ interval: INTERVAL, details: 'never' })
    const settings = { target: targetConfig({ name: TARGET }), poll, rules }
    return { operational, target: await openTarget({ settings, store, clock, receiversOf: () => [] }) }
  }
  let daemon: Daemon | undefined
  const observations = observationsOf(calls)
  const scrapes: Scrape[] = []
  let firing: Scrape['firing'] = new Set()
  for (let at = 0; at <= LASTS; at += INTERVAL) {
    now = at - POLLED_BEFORE
    if (isIn(RESTARTS, now)) daemon = undefined
    else daemon ??= await open()
    const good = !isIn(OUTAGES, now)
    const successful = daemon && (await poll(daemon, good))
    now = at
    if (daemon !== undefined) firing = firingOf(daemon.target)
    const series = daemon === undefined ? new Map<string, number>() : await scrape(daemon, metrics)
    scrapes.push({ at, up: daemon !== undefined, series, firing, poll: successful })
  }
  await store.close()
  return scrapes

  /** Runs one interval of the daemon: a tick, and a poll. */
  async function poll({ target, operational }: Daemon, good: boolean): Promise<SuccessfulPoll | undefined> {
    await tick(target)
    const began = now
    now += between(draw, 0.5, 6)
    const committed = good ? await commitObservation(target, observations.next(began, now)) : undefined
    const outcome = good ? ('incremental' as const) : ('failed' as const)
    const report = {
      outcome,
      successful: good,
      seconds: now - began,
      requests: [],
      remaining: undefined,
    }
    recordPoll(operational, TARGET, report)
    if (committed === undefined) return undefined
    const { sync, finishes } = committed.ledger
    return { now: sync.lastSuccess!, previousSuccess: sync.previousSuccess, finishes }
  }
}

function firingOf({ alerts }: Target): ReadonlySet<string> {
  return new Set([...alerts.values()].filter(({ state }) => state !== 'pending').map(({ rule }) => rule.name))
}

/** The observations of successful polls: all open calls and those that finished since the last poll, or a whole sweep. */
function observationsOf(calls: readonly SeededCall[]) {
  let begun = 0
  let open: SeededCall[] = []
  let past: SeededCall[] = []
  let swept = -Infinity
  return {
    next: (began: number, now: number): Observation => {
      for (; begun < calls.length && calls[begun]!.initiatedAt <= now; begun++) open.push(calls[begun]!)
      const shown = open.map((call) => shownAt(call, now))
      past.push(...open.filter(({ shownFinished }) => shownFinished <= now))
      open = open.filter(({ shownFinished }) => shownFinished > now)
      const endsSweep = began - swept >= SWEEP_INTERVAL
      if (endsSweep) {
        swept = began
        past = past.filter(({ endedAt }) => endedAt > now - 2 * 86_400)
      }
      const listed = new Set((endsSweep ? [...past, ...open] : []).map(({ id }) => id))
      const at = {
        beganServiceTime: CREATED + began,
        beganHostTime: CREATED + began,
        serviceTime: CREATED + now,
        hostTime: CREATED + now,
      }
      return {
        answers: [listedAt(CREATED + now, ...shown)],
        success: { ...at, endsSweep, listed, list: KNOWN_LIST },
      }
    },
  }
}

function shownAt({ id, type, mode, receiverType, ...call }: SeededCall, now: number) {
  const initiatedAt = CREATED + call.initiatedAt
  const startedAt = call.startedAt === undefined || call.startedAt > now ? undefined : CREATED + call.startedAt
  const isFinished = call.shownFinished <= now
  return seen(id, isFinished ? call.status : startedAt === undefined ? 'initiated' : 'ongoing', {
    type,
    mode,
    receiverType,
    initiatedAt,
    startedAt,
    ...(isFinished && { endedAt: CREATED + call.endedAt }),
  })
}

/** The samples of some metrics in a scrape, with the labels that Prometheus adds. */
async function scrape({ target, operational }: Daemon, metrics: ReadonlySet<string>): Promise<Map<string, number>> {
  const series = new Map<string, number>()
  const add = (name: string, { labels, value }: { labels: object; value: number }) => {
    const all = Object.entries({ ...labels, job: 'callwatch', instance: 'callwatch:9464' })
    const selector = all.map(([label, of]) => `${label}="${of}"`).join(', ')
    series.set(`${name}{${selector}}`, name.endsWith('_timestamp_seconds') ? value - CREATED : value)
  }
  for (const { name, read } of DERIVED_METRICS) {
    if (metrics.has(name)) {
      for (const { labels, sharedLabels, value } of read(target))
        add(name, { labels: { ...sharedLabels, ...labels }, value })
    }
  }
  for (const metric of [operational.polls, operational.targets, operational.targetsOwned]) {
    const { name, values } = await metric.get()
    if (metrics.has(name)) for (const sample of values) add(name, sample)
  }
  return series
}
