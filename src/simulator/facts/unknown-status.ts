import { between, weighted } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Turn } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * A status that nobody has documented: while the call rings, for a while in its middle, or as its end, which has an
 * `endedAt` then. Truth: it is in progress, or finishes, as `other`.
 */
export const unknownStatus: Fact = (life, { random }) => {
  const kind = weighted(random, [
    ['first', 1],
    ['middle', 1],
    ['last', 1],
  ] as const)
  if (kind === 'last') return { ...life, outcome: 'failed' }
  if (kind === 'first') return { ...life, firstStatus: 'ringing' }
  const { startedMs, endedMs } = life
  if (startedMs === undefined || endedMs - startedMs < 3) return undefined
  const ms = startedMs + Math.ceil(between(random, 0, 0.5) * (endedMs - startedMs - 2))
  const paused: Turn = { ms, name: 'paused', change: instead('ongoing', 'on hold') }
  const until = ms + Math.ceil(between(random, 0, 0.5) * (endedMs - startedMs - 2))
  return withTurns(life, paused, {
    ms: Math.max(until, ms + 1),
    name: 'resumed',
    change: instead('on hold', 'ongoing'),
    undoes: paused,
  })
}

function instead(status: string, other: string): Turn['change'] {
  return (call) => (call.status === status ? { ...call, status: other } : call)
}
