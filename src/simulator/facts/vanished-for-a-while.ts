import { between } from '../draw.ts'
import { unchanged, withTurns } from '../turn.ts'
import type { Turn } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * Out of the list and unknown to Get Call for some seconds or minutes, and then there again, with whatever has become
 * of it meanwhile. Truth: as if it had been there all the time, except that its events in between are dated to its
 * return. Set these calls aside (`vanished`).
 */
export const vanishedForAWhile: Fact = (life, { random, wait }) => {
  if (life.turns?.some(({ name }) => name === 'vanished')) return undefined
  const lasts = life.endedMs - life.initiatedMs
  const ms = life.initiatedMs + Math.max(1, Math.round(between(random, 0, 1.2) * lasts))
  const gone: Turn = { ms, name: 'vanished', change: unchanged }
  return withTurns(life, gone, { ms: ms + wait(5, 300), name: 'returned', change: unchanged, undoes: gone })
}
