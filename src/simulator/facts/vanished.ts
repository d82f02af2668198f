import { between } from '../draw.ts'
import { unchanged, withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * Out of the list and unknown to Get Call from some moment on, for good: two of three while the call is open. Truth:
 * what had happened until then; an open call has started, has not finished and is not in progress. Whether anyone saw
 * it depends on when one looks: set these calls aside (`vanished`).
 */
export const vanished: Fact = (life, { random }) => {
  const lasts = life.endedMs - life.initiatedMs
  const ms = life.initiatedMs + Math.max(1, Math.round(between(random, 0, 1.5) * lasts))
  return withTurns(life, { ms, name: 'vanished', change: unchanged })
}
