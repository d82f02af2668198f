import { always, withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * An answered call that is shown as begun a minute after it was answered. Truth: no answer delay; the rest as it is.
 */
export const timesReversed: Fact = (life) => {
  if (life.startedMs === undefined) return undefined
  return withTurns(
    life,
    always((call) => (call.startedAt === undefined ? call : { ...call, initiatedAt: call.startedAt + 60 })),
  )
}
