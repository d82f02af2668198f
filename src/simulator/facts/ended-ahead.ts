import { whole } from '../draw.ts'
import { always, withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * `endedAt` is more than a day ahead, by up to two hours (a device's wrong date), and so becomes plausible while a run lasts.
 * Truth: the call counts once, among those `withoutEndedAt`; or never, where it was over before the set-up. Not for unknown
 * statuses, which nothing but an `endedAt` makes final.
 */
export const endedAhead: Fact = (life, { random }) => {
  if (life.outcome === 'failed' || life.endShownMs !== undefined) return undefined
  const ahead = 86_400 + 60 * whole(random, 30, 120)
  return withTurns(
    life,
    always(({ endedAt, ...call }) => (endedAt === undefined ? call : { ...call, endedAt: endedAt + ahead })),
  )
}
