import { between, weighted } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/**
 * Type, mode or receiver type is another from some moment while the call is open. Truth: started with the first
 * labels, finished with those at the end, minutes with the last ones; exact only as sums over that label: set these
 * calls aside (`labelsChanged`).
 */
export const labelsChanged: Fact = (life, { random }) => {
  const ms = life.initiatedMs + Math.round(between(random, 0, 1) * (life.endedMs - life.initiatedMs))
  if (ms <= life.initiatedMs || ms >= life.endedMs) return undefined
  const [name, value] = weighted(random, [
    [['type', life.type === 'audio' ? 'video' : 'audio'], 2],
    [['receiverType', life.receiverType === 'user' ? 'group' : 'user'], 1],
    [['mode', life.mode === 'meet' ? 'presenter' : 'meet'], 1],
  ] as const)
  // A label that the wire never shows cannot change on it.
  if (life[name] === '') return undefined
  return withTurns(life, { ms, name: 'relabelled', change: (call) => ({ ...call, [name]: value }) })
}
