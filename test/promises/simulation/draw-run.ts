import type { Burst } from '../../../src/simulator/calls/arrivals.ts'
import { between, chance, pick, random, type Random } from '../../../src/simulator/random.ts'
import type { Switches } from '../../kit/world/switches.ts'
import { always, isShort, type Hazard, type HazardChange } from './hazard.ts'
import { hazards, isHazardName } from './hazards.ts'
import { INHIBITIONS, type DrawnInhibition } from './simulated-rules.ts'

/**
 * `calm`: no crashes, and every answer is replayed; `troubled`: facts whose expected series depend on when one polls, for
 * which calls are set aside by name; `ordinary`: neither.
 */
export type RunKind = 'calm' | 'troubled' | 'ordinary'

/** What of the daemon's configuration is drawn; a range or several values: another one at each restart and reload. */
export type DrawnSettings = {
  baseline: 'skip' | 'count'
  /** Seconds. */
  lookback: readonly [low: number, high: number]
  sweepInterval: number
  pageSizes: readonly number[]
  maxRequestsPerMinute: number
  /** Seconds for which finished calls are kept in the history; undefined: longer than any run. */
  retention: number | undefined
}

/** What a seed decides of a run, beside the switches that are drawn again every few minutes. */
export type DrawnRun = {
  kind: RunKind
  /** By their names. */
  hazards: string[]
  /** The names of the receivers that get every alert; each fails by itself. */
  receivers: readonly string[]
  inhibition: DrawnInhibition
  settings: DrawnSettings
  /** The service sends webhooks. */
  sendsWebhooks: boolean
  /** The configuration is reloaded now and then. */
  reloads: boolean
  /** Switches that hold from the first moment to the healing. */
  standing: Partial<Switches>
  /** Facts for the calls of the history, and for those that begin during the run. */
  pastFacts: Switches['facts']
  facts: Switches['facts']
  /** Instead of what is drawn again. */
  odd: Switches['odd']
  /** Switches that hold for a while only: seconds after the start. */
  spells: { from: number; to: number; switches: Partial<Switches> }[]
  /** Calls that begin together, seconds after the start. */
  bursts: { at: number; calls: number; seconds: number; outcomes?: Burst['outcomes'] }[]
  /** Silences and mutes, and receivers that fail for minutes (suppressions.ts). */
  suppresses: boolean
  /** How many calls there were before the set-up, of these how many are open then, and how many groups meet; undefined: as the simulator has it. */
  past: { history: number; open?: number; groups?: number }
  /** By how much the host's clock is ahead of every other one (seconds), and from when to when (seconds after the start). */
  hostAhead: number
  hostAheadFrom: number
  hostAheadTo: number
  /** The highest intensity of what is drawn again, and whether the service may be away for hours. */
  mostIntensity: number
  outages: boolean
}

/** Seconds for which the service is away at most. */
export const LONGEST_OUTAGE = 7200
/** Seconds; a run in which nothing makes it hard is never without a successful poll for 200. */
export const LONGEST_BLIND = 2400
const SWEEP_INTERVAL = 1800
const RECEIVERS = [['slack'], ['slack', 'on-call'], ['email', 'webhook', 'on-call', 'shop team']] as const

/**
 * How many calls the service must show at least: what it shows for less than an outage, the time without a successful poll
 * after it and a sweep take, no poller can know. In busy hours half as many again begin.
 */
export function callsToShow(days: number, callsPerDay: number): number {
  return Math.ceil(
    1.5 * (callsPerDay / 86_400) * Math.min(days * 86_400, LONGEST_OUTAGE + LONGEST_BLIND + SWEEP_INTERVAL),
  )
}

/**
 * @param days how long the run is, in virtual days
 * @param names exactly these hazards, instead of what the seed draws
 */
export function drawRun(
  seed: number,
  { days, callsPerDay }: { days: number; callsPerDay: number },
  names?: readonly string[],
): DrawnRun {
  const kind = (['calm', 'ordinary', 'troubled'] as const)[seed % 3]!
  let run: DrawnRun = {
    kind,
    hazards: [],
    receivers: pick(random(seed, 'receivers'), RECEIVERS),
    inhibition: pick(random(seed, 'inhibition'), INHIBITIONS),
    settings: {
      baseline: pick(random(seed, 'baseline'), ['skip', 'count']),
      // Where calls are set aside by name, or polls are replayed, nothing is evicted unless a hazard says so.
      lookback: always(kind === 'ordinary' ? 4 * 3600 : (days + 2) * 86_400),
      sweepInterval: SWEEP_INTERVAL,
      pageSizes: [[50, 20, 50][seed % 3]!],
      maxRequestsPerMinute: 400,
      retention: undefined,
    },
    sendsWebhooks: false,
    reloads: false,
    standing: {},
    pastFacts: {},
    facts: {},
    odd: {},
    spells: [],
    bursts: [],
    past: { history: 200 },
    suppresses: false,
    hostAhead: 0,
    hostAheadFrom: 0,
    hostAheadTo: Infinity,
    mostIntensity: 1,
    outages: true,
  }
  for (const name of Object.keys(hazards).filter(isHazardName)) {
    const stream = random(seed, 'hazard', name)
    const { probability, isAlone, suits, change }: Hazard = hazards[name]
    const likely = typeof probability === 'number' ? probability : (probability[kind] ?? 0)
    const isDrawn = chance(stream, likely) && (suits?.(run) ?? true)
    if (!(names?.includes(name) ?? isDrawn)) continue
    run = changed(
      { ...run, hazards: [...run.hazards, name] },
      change(run, stream, { seconds: days * 86_400, toShow: callsToShow(days, callsPerDay) }),
    )
    if (isAlone && names === undefined) break
  }
  // Where calls of the past come in late, or leave a short lookback, which of them count depends on when one polls. Where they continue,
  // the log does not have the steps that are counted.
  return isShort(run) || ['imports', 'order', 'reopened'].some((name) => run.hazards.includes(name))
    ? changed(run, { settings: { baseline: 'skip' } })
    : run
}

/** One draw of the settings that may change. */
export function drawSettings({ settings: { lookback, pageSizes } }: DrawnRun, stream: Random) {
  return { lookback: Math.round(between(stream, ...lookback)), pageSize: pick(stream, pageSizes) }
}

function changed(run: DrawnRun, change: HazardChange): DrawnRun {
  return {
    ...run,
    ...change,
    settings: { ...run.settings, ...change.settings },
    standing: { ...run.standing, ...change.standing },
    pastFacts: { ...run.pastFacts, ...change.pastFacts },
    facts: { ...run.facts, ...change.facts },
    odd: { ...run.odd, ...change.odd },
    spells: [...run.spells, ...(change.spells ?? [])],
    bursts: [...run.bursts, ...(change.bursts ?? [])],
  }
}
