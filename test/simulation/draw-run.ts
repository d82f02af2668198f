import { between, chance, whole } from '../../src/simulator/draw.ts'
import type { FactProbabilities } from '../../src/simulator/facts/facts.ts'
import type { OddityProbabilities } from '../../src/simulator/odd/oddities.ts'
import { random, type Random } from '../../src/simulator/random.ts'
import type { Switches } from '../../src/simulator/switches.ts'
import type { Hazard } from './hazard.ts'
import { hazards, isHazardName } from './hazards.ts'

/**
 * `calm`: no crashes, and every answer is replayed; `troubled`: facts about which the truth depends on when one looks, by
 * whose names calls are set aside; `ordinary`: neither.
 */
export type RunKind = 'calm' | 'troubled' | 'ordinary'

/** What of the daemon's configuration is drawn; a range or several values: another one at each restart and reload. */
export type DrawnSettings = {
  /** Seconds. */
  lookback: readonly [low: number, high: number]
  sweepInterval: number
  pageSizes: readonly number[]
  maxRequestsPerMinute: number
  /** Seconds for which finished calls are kept in the history; undefined: longer than any run. */
  retention: number | undefined
}

/** What a seed makes of a run beside the switches that are drawn anew every few minutes. */
export type DrawnRun = {
  kind: RunKind
  /** By their names. */
  hazards: string[]
  settings: DrawnSettings
  /** The configuration is reloaded now and then. */
  reloads: boolean
  /** Switches that hold from the first moment to the healing. */
  standing: Partial<Switches>
  /** Facts for the calls of the history, and for those that begin during the run. */
  pastFacts: FactProbabilities
  facts: FactProbabilities
  /** Instead of what is drawn anew. */
  odd: OddityProbabilities
  /** Switches that hold for a while only: seconds after the start. */
  spells: { from: number; to: number; switches: Partial<Switches> }[]
  /** Calls that begin together, seconds after the start. */
  bursts: { at: number; calls: number; seconds: number }[]
  /** By how much the host's clock is ahead of every other one (seconds). */
  hostAhead: number
  /** The most that the intensity of what is drawn anew may be, and whether the service may be away for hours. */
  mostIntensity: number
  outages: boolean
}

/**
 * @param days how long the run is, in virtual days
 * @param names exactly these hazards, instead of what the seed draws
 */
export function drawRun(seed: number, days: number, names?: readonly string[]): DrawnRun {
  const kind = (['calm', 'ordinary', 'troubled'] as const)[seed % 3]!
  const run: DrawnRun = {
    kind,
    hazards: [],
    settings: {
      // Where calls are set aside by name, or polls are replayed, nothing is evicted unless a hazard says so.
      lookback: always(kind === 'ordinary' ? 4 * 3600 : (days + 2) * 86_400),
      sweepInterval: 1800,
      pageSizes: [[50, 20, 50][seed % 3]!],
      maxRequestsPerMinute: 400,
      retention: undefined,
    },
    reloads: false,
    standing: {},
    pastFacts: {},
    facts: {},
    odd: {},
    spells: [],
    bursts: [],
    hostAhead: 0,
    mostIntensity: 1,
    outages: true,
  }
  for (const name of Object.keys(hazards).filter(isHazardName)) {
    const stream = random(seed, 'hazard', name)
    const { probability, isAlone, suits, apply }: Hazard = hazards[name]
    const isDrawn = chance(stream, probability[kind] ?? 0) && (suits?.(run) ?? true)
    if (!(names?.includes(name) ?? isDrawn)) continue
    run.hazards.push(name)
    apply(run, { stream, seconds: days * 86_400 })
    if (isAlone && names === undefined) break
  }
  return run
}

/** One draw of the settings that may change. */
export function drawSettings({ settings: { lookback, pageSizes } }: DrawnRun, stream: Random) {
  return {
    lookback: Math.round(between(stream, ...lookback)),
    pageSize: pageSizes[whole(stream, 0, pageSizes.length - 1)]!,
  }
}

/** A range of one value. */
export function always(value: number): readonly [low: number, high: number] {
  return [value, value]
}
