import { between } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Turn } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * An ongoing call is shown as initiated again for a while. Truth: in progress under the status that is shown; nothing
 * else differs.
 */
export const setBack: Fact = (life, { random }) => {
  const { startedMs, endedMs } = life
  if (startedMs === undefined || endedMs - startedMs < 3) return undefined
  const from = startedMs + Math.ceil(between(random, 0.1, 0.5) * (endedMs - startedMs - 2))
  const to = from + Math.ceil(between(random, 0.1, 0.5) * (endedMs - startedMs - 2))
  const back: Turn = { ms: from, name: 'set_back', change: instead('ongoing', 'initiated') }
  return withTurns(life, back, { ms: to, name: 'resumed', change: instead('initiated', 'ongoing'), undoes: back })
}

function instead(status: string, other: string): Turn['change'] {
  return (call) => (call.status === status ? { ...call, status: other } : call)
}
