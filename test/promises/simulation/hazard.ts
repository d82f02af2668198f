import { whole, type Random } from '../../../src/simulator/random.ts'
import type { DrawnRun, DrawnSettings, RunKind } from './draw-run.ts'

/** Something that makes a run harder, drawn by the seed. */
export type Hazard = {
  /** How likely it is in a run, or in one of each kind; absent: never. */
  probability: number | Partial<Record<RunKind, number>>
  /** Nothing else is drawn with it. */
  isAlone?: true
  /** Whether it is compatible with what was drawn before. */
  suits?: (run: DrawnRun) => boolean
  /**
   * What it changes of the run that the hazards before have left.
   *
   * @param stream of the seed, for this hazard alone
   * @param scale seconds: how long the run is; toShow: how many calls the service must show at least
   */
  change: (run: DrawnRun, stream: Random, scale: { seconds: number; toShow: number }) => HazardChange
}

/** Replaces what is named; `spells` and `bursts` are added. */
export type HazardChange = Partial<Omit<DrawnRun, 'kind' | 'hazards' | 'settings'>> & {
  settings?: Partial<DrawnSettings>
}

export const MINUTE = 60

/** A range of one value. */
export function always(value: number): readonly [low: number, high: number] {
  return [value, value]
}

export function shortLookback(stream: Random, mostMinutes = 60): Partial<DrawnSettings> {
  return { lookback: always(whole(stream, 20 * MINUTE, mostMinutes * MINUTE)), sweepInterval: 300 }
}

export function isShort({ settings: { lookback } }: DrawnRun): boolean {
  return lookback[1] <= 90 * MINUTE
}

/** A short lookback, but for calm runs and those that have one. */
export function evicting(run: DrawnRun, stream: Random): Partial<DrawnSettings> {
  return run.kind === 'calm' || isShort(run) ? {} : shortLookback(stream)
}

export function isReadToItsEnd({ standing }: DrawnRun): boolean {
  return standing.deepestPage === undefined
}
