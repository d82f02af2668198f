import type { Rule } from '../../src/alerts/rule.ts'
import type { Clock } from '../../src/clock/clock.ts'
import type { Judged } from '../../src/ledger/failure-ratio.ts'
import type { Observation } from '../../src/ledger/step.ts'
import type { Finish } from '../../src/ledger/tracked-call.ts'
import { DERIVED_METRICS } from '../../src/metrics/derived-metrics.ts'
import type { OperationalMetrics } from '../../src/metrics/operational-metrics.ts'
import { introduceTarget, recordCycle } from '../../src/metrics/record.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { between } from '../../src/simulator/draw.ts'
import { random } from '../../src/simulator/random.ts'
import { keepTarget, type TargetKeeper } from '../../src/store/keep-target.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { CREATED, listed as listedAt, seen } from '../ledger/seen.ts'
import { isIn, LASTS, OUTAGES, RESTARTS } from './episodes.ts'
import { seededCalls, type SeededCall } from './seeded-calls.ts'

/**
 * Seconds between two polls, and between two scrapes. Prometheus judges at the scrapes: both ends of a window are samples,
 * and `increase` has nothing to extrapolate. Where scrapes and evaluations lie apart, it guesses a call more or less.
 */
export const INTERVAL = 60
/** So long before a scrape its poll begins (seconds). */
const POLLED_BEFORE = 20
/** The whole list is read again this often (seconds). */
const SWEEP_INTERVAL = 900
const TARGET = 'production'

/** What a scrape found, and what callwatch said at that moment. Times are seconds since the history began. */
export type Scrape = {
  at: number
  /** Whether the daemon was there to answer. */
  up: boolean
  /** Series by their name and labels. */
  series: ReadonlyMap<string, number>
  /** The alerts that fire, those that recover included. */
  firing: ReadonlySet<string>
  /** The good look of the poll before it, with the calls that it found over; undefined where that failed. */
  look: SeenLook | undefined
}

export type SeenLook = Judged & { finishes: readonly Finish[] }

type Daemon = { keeper: TargetKeeper; operational: OperationalMetrics }

/**
 * A daemon's life with the seeded calls: the real ledger, store, rules and metrics, on a clock that is set by hand.
 *
 * @param metrics names of those that are scraped
 */
export async function watchHistory(seed: number, rules: readonly Rule[], metrics: ReadonlySet<string>) {
  const calls = seededCalls(seed)
  const draw = random(seed, 'looks')
  const store = openSqliteStore({ path: ':memory:' })
  let now = -INTERVAL
  const clock: Clock = {
    wall: () => CREATED + now,
    monotonic: () => now,
    get scheduler(): never {
      throw new Error('nothing waits in this history')
    },
  }
  const open = async () => {
    const { operational } = metricsOf(() => [], '1')
    introduceTarget(operational, TARGET)
    operational.targets.set(1)
    operational.targetsOwned.set(1)
    const ledger = { lookback: 86_400, baseline: 'skip', details: 'never' } as const
    const identity = { name: TARGET, fingerprint: 'x' }
    return {
      operational,
      keeper: await keepTarget({ store, clock, identity, ledger, rules, route: () => [], interval: INTERVAL }),
    }
  }
  let daemon: Daemon | undefined
  const looks = looksAt(calls)
  const scrapes: Scrape[] = []
  let firing: Scrape['firing'] = new Set()
  for (let at = 0; at <= LASTS; at += INTERVAL) {
    now = at - POLLED_BEFORE
    if (isIn(RESTARTS, now)) daemon = undefined
    else daemon ??= await open()
    const good = !isIn(OUTAGES, now)
    const look = daemon && (await poll(daemon, good))
    now = at
    if (daemon !== undefined) firing = firingOf(daemon.keeper)
    const series = daemon === undefined ? new Map<string, number>() : await scrape(daemon, metrics)
    scrapes.push({ at, up: daemon !== undefined, series, firing, look })
  }
  await store.close()
  return scrapes

  /** As the daemon does each interval: the timers, and a cycle. */
  async function poll({ keeper, operational }: Daemon, good: boolean): Promise<SeenLook | undefined> {
    await keeper.tick()
    const began = now
    now += between(draw, 0.5, 6)
    const committed = good ? await keeper.fold(looks.next(began, now)) : undefined
    const outcome = good ? 'incremental' : 'failed'
    const cycle = { outcome, good, seconds: now - began, requests: [], remaining: undefined, storeFailed: false }
    recordCycle(operational, TARGET, cycle)
    if (committed === undefined) return undefined
    const { facts, finishes } = committed.ledger
    return { now: facts.lastGood!, previousGood: facts.previousGood, finishes }
  }
}

function firingOf({ alerts }: TargetKeeper): ReadonlySet<string> {
  return new Set([...alerts.values()].filter(({ state }) => state !== 'pending').map(({ rule }) => rule.name))
}

/** What each good look sees: every call that is open, and what ended since the look before; the whole list at times. */
function looksAt(calls: readonly SeededCall[]) {
  let begun = 0
  let open: SeededCall[] = []
  let past: SeededCall[] = []
  let swept = -Infinity
  return {
    next: (began: number, now: number): Observation => {
      for (; begun < calls.length && calls[begun]!.initiatedAt <= now; begun++) open.push(calls[begun]!)
      const shown = open.map((call) => shownAt(call, now))
      past.push(...open.filter(({ shownOver }) => shownOver <= now))
      open = open.filter(({ shownOver }) => shownOver > now)
      const whole = began - swept >= SWEEP_INTERVAL
      if (whole) {
        swept = began
        past = past.filter(({ endedAt }) => endedAt > now - 2 * 86_400)
      }
      const listed = new Set((whole ? [...past, ...open] : []).map(({ id }) => id))
      const end = { began: CREATED + began, hostBegan: CREATED + began, now: CREATED + now, host: CREATED + now }
      return { sightings: [listedAt(CREATED + now, ...shown)], end: { ...end, whole, listed, list: undefined } }
    },
  }
}

function shownAt({ id, type, mode, receiverType, ...call }: SeededCall, now: number) {
  const initiatedAt = CREATED + call.initiatedAt
  const startedAt = call.startedAt === undefined || call.startedAt > now ? undefined : CREATED + call.startedAt
  const isOver = call.shownOver <= now
  return seen(id, isOver ? call.status : startedAt === undefined ? 'initiated' : 'ongoing', {
    type,
    mode,
    receiverType,
    initiatedAt,
    startedAt,
    ...(isOver && { endedAt: CREATED + call.endedAt }),
  })
}

/** What a scrape reads of these metrics, with the labels that it adds itself. */
async function scrape({ keeper, operational }: Daemon, metrics: ReadonlySet<string>): Promise<Map<string, number>> {
  const series = new Map<string, number>()
  const add = (name: string, { labels, value }: { labels: object; value: number }) => {
    const all = Object.entries({ ...labels, job: 'callwatch', instance: 'callwatch:9464' })
    const selector = all.map(([label, of]) => `${label}="${of}"`).join(', ')
    series.set(`${name}{${selector}}`, name.endsWith('_timestamp_seconds') ? value - CREATED : value)
  }
  for (const { name, read } of DERIVED_METRICS) {
    if (metrics.has(name)) {
      for (const { labels, sharedLabels, value } of read(keeper))
        add(name, { labels: { ...sharedLabels, ...labels }, value })
    }
  }
  for (const metric of [operational.polls, operational.targets, operational.targetsOwned]) {
    const { name, values } = await metric.get()
    if (metrics.has(name)) for (const sample of values) add(name, sample)
  }
  return series
}
