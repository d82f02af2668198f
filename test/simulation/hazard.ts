import { whole } from '../../src/simulator/draw.ts'
import type { Random } from '../../src/simulator/random.ts'
import type { DrawnRun, RunKind } from './draw-run.ts'

/** Something that makes a run harder, drawn by the seed. */
export type Hazard = {
  /** How likely it is in a run of each kind; absent: never. */
  probability: Partial<Record<RunKind, number>>
  /** Nothing else is drawn with it. */
  isAlone?: true
  /** Whether it goes with what was drawn before. */
  suits?: (run: DrawnRun) => boolean
  /** @param seconds how long the run is */
  apply: (run: DrawnRun, context: { stream: Random; seconds: number }) => void
}

export const MINUTE = 60

export function shorten(run: DrawnRun, stream: Random, mostMinutes = 60): void {
  const lookback = whole(stream, 20 * MINUTE, mostMinutes * MINUTE)
  run.settings = { ...run.settings, lookback: [lookback, lookback], sweepInterval: 300 }
}

export function isShort({ settings: { lookback } }: DrawnRun): boolean {
  return lookback[1] <= 90 * MINUTE
}
