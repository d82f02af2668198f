import { weighted } from '../draw.ts'
import { always, withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

const YEARS_20 = 20 * 365 * 86_400

/**
 * One of the call's times is twenty years ahead. Truth: that time is missing, and so is what would be reckoned from
 * it. Where it is `endedAt` the call counts among those `withoutEndedAt`.
 */
export const farFuture: Fact = (life, { random }) => {
  const name = weighted(random, [
    ['initiatedAt', 1],
    ['startedAt', 1],
    ['endedAt', 1],
  ] as const)
  if (name === 'startedAt' && life.startedMs === undefined) return undefined
  // Nothing but an endedAt makes an unknown status final.
  if (name === 'endedAt' && life.outcome === 'failed') return undefined
  return withTurns(
    life,
    always((call) => (call[name] === undefined ? call : { ...call, [name]: call[name] + YEARS_20 })),
  )
}
