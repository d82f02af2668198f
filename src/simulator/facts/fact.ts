import type { Life } from '../life.ts'
import type { Random } from '../random.ts'

/** What a fact is drawn from. */
export type FactContext = {
  random: Random
  /** Whole milliseconds, at least 1, of a time of so many seconds that passes at the world's speed. */
  wait: (lowSeconds: number, highSeconds: number) => number
}

/** Makes a call another than calls ordinarily are; undefined where that call cannot be so. */
export type Fact = (life: Life, context: FactContext) => Life | undefined
