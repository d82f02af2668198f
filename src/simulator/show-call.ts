import { wireOf, wireText } from './listing.ts'
import type { Entry } from './listing.ts'
import { drawOddities, showOddly } from './odd/oddities.ts'
import type { OddityContext } from './odd/oddity.ts'
import type { OddityProbabilities } from './odd/oddities.ts'
import { reach } from './reached.ts'
import type { Reached } from './reached.ts'

export type ShowContext = OddityContext & { odd: OddityProbabilities; reached: Reached }

/** The call as JSON, as one answer shows it. */
export function showCall(entry: Entry, context: ShowContext): string {
  const names = drawOddities(context.random, context.odd)
  if (names.length === 0) return wireText(entry)
  for (const name of names) reach(context.reached, `odd.${name}`)
  return JSON.stringify(showOddly(wireOf(entry), names, context))
}
