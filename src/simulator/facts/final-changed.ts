import { finalStatuses } from '../call.ts'
import { chance, whole } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Turn } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * A call that is over gets another final status later, or is ongoing again and ends a second time. Truth: the first
 * final status counts; but who looks late never saw it, so set these calls aside (`finalChanged`).
 */
export const finalChanged: Fact = (life, { random, wait }) => {
  const others = finalStatuses.filter((status) => status !== life.outcome)
  const status = others[whole(random, 0, others.length - 1)]!
  const ms = life.endedMs + wait(5, 900)
  if (chance(random, 0.5)) {
    return withTurns(life, { ms, name: 'final_changed', change: (call) => ({ ...call, status }) })
  }
  const reopened: Turn = {
    ms,
    name: 'final_changed',
    change: ({ endedAt: _endedAt, ...call }) => ({ ...call, status: 'ongoing' }),
  }
  const endedAt = Math.floor(life.endedMs / 1000)
  return withTurns(life, reopened, {
    ms: ms + wait(10, 600),
    name: 'final_changed',
    change: (call) => ({ ...call, status, endedAt }),
    undoes: reopened,
  })
}
