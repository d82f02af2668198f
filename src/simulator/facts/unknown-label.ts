import { weighted, whole } from '../draw.ts'
import type { Fact } from './fact.ts'

/** What stands on the wire where a label should be; undefined: nothing. */
const VALUES = ['hologram', 'VIDEO-PLUS', 'toString', 'a "quoted" \\ value\n', undefined, null, 7, {}, ['audio']]

/**
 * Type, mode or receiver type outside the documented values, missing, null or of another type, all the call's life.
 * Truth: the label is `other`.
 */
export const unknownLabel: Fact = (life, { random }) => {
  const name = weighted(random, [
    ['type', 1],
    ['mode', 1],
    ['receiverType', 1],
  ] as const)
  const value = VALUES[whole(random, 0, VALUES.length - 1)]
  if (typeof value === 'string') return { ...life, [name]: value }
  const { shown } = life
  return { ...life, [name]: '', shown: (call) => ({ ...(shown?.(call) ?? call), [name]: value }) }
}
