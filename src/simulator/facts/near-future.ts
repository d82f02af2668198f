import { whole } from '../draw.ts'
import { always, withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * All times of the call are ahead of the service's clock, by up to two hours. Truth: the times as they are shown; the
 * failure ratio depends on when one looks, since nothing finishes after the moment at which it is seen.
 */
export const nearFuture: Fact = (life, { random }) => {
  const ahead = whole(random, 2, 7200)
  return withTurns(
    life,
    always(({ initiatedAt, startedAt, endedAt, ...call }) => ({
      ...call,
      initiatedAt: initiatedAt + ahead,
      ...(startedAt === undefined ? {} : { startedAt: startedAt + ahead }),
      ...(endedAt === undefined ? {} : { endedAt: endedAt + ahead }),
    })),
  )
}
