import type { Fact } from './fact.ts'

const YEARS_10 = 10 * 365 * 86_400_000

/**
 * An answered call that never ends: it is ongoing until the world is healed, and ends then. Its figures stay as they were
 * when its participants had left. Truth: in progress, and over once it is over.
 */
export const stuck: Fact = (life) => {
  if (life.startedMs === undefined || life.turns) return undefined
  return { ...life, endedMs: life.endedMs + YEARS_10, progressMs: YEARS_10, endsWhenHealed: true }
}
