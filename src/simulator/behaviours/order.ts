import { shuffled } from '../draw.ts'
import type { Behaviour } from './behaviour.ts'

/** Switch `order`: newest first by initiatedAt, oldest first, or mixed anew for every request. */
export const order: Behaviour = {
  order: (calls, { switches, random }) => {
    if (switches.order === 'shuffled') return shuffled(random, calls)
    return switches.order === 'oldest' ? calls : calls.toReversed()
  },
}
