import { formed, wireText } from '../../../../src/simulator/answers/list-calls.ts'
import type { Entry } from '../../../../src/simulator/calls/world.ts'
import type { WorldService } from '../start-world.ts'
import { besideOf, reach, type WorldState } from '../state.ts'
import { drawOddities, oddly, type Wire } from './oddities.ts'

/** The call as the wire shows it. */
export function wireOf(state: WorldState, row: Entry): Wire {
  const { sameAs = row } = besideOf(state, row)
  const { shown } = besideOf(state, sameAs).life
  return shown ? shown(sameAs.call) : sameAs.call
}

/**
 * The call as JSON, as one answer shows it: with the oddities that chance gives it, most often none.
 */
export function showCall(service: WorldService, entry: Entry, operation: 'list' | 'get'): string {
  const { state, switches, streams } = service
  const names = drawOddities(streams.behaviours, switches.odd)
  const { sameAs = entry } = besideOf(state, entry)
  if (!names.includes('unusable')) state.shown.push(sameAs.call)
  const isWhole = operation === 'get' || switches.listedParticipants === 'given'
  if (names.length === 0 && isWhole) return wireText(sameAs, switches, () => wireOf(state, sameAs))
  for (const name of names) reach(state, `odd.${name}`)
  const wire: Wire = { ...formed(wireOf(state, entry), switches) }
  if (!isWhole) delete wire['participants']
  return JSON.stringify(oddly(wire, names, { random: streams.behaviours, operation }))
}
