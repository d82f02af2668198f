import { isFinalStatus } from '../call.ts'
import { chance } from '../draw.ts'
import { unchanged, withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * Over, but without `endedAt`; half of these calls get it later. Truth: their end counts, at the moment it came; when
 * it is seen depends on when one looks: set these calls aside (`withoutEndedAt`). Not for unknown statuses, which
 * nothing but an `endedAt` makes final.
 */
export const withoutEndedAt: Fact = (life, { random, wait }) => {
  if (!isFinalStatus(life.outcome)) return undefined
  if (chance(random, 0.5)) return { ...life, endShownMs: Infinity }
  const ms = life.endedMs + wait(5, 900)
  return withTurns({ ...life, endShownMs: ms }, { ms, name: 'dated', change: unchanged })
}
