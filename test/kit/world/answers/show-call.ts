import { formed, wireText } from '../../../../src/simulator/answers/list-calls.ts'
import { chance } from '../../../../src/simulator/random.ts'
import type { Entry } from '../../../../src/simulator/calls/world.ts'
import type { WorldService } from '../start-world.ts'
import { besideOf, reach, type WorldState } from '../state.ts'
import { drawOddities, oddly, withTimes, type Wire } from './oddities.ts'

/** The call as the wire shows it. */
export function wireOf(state: WorldState, row: Entry): Wire {
  const { sameAs = row } = besideOf(state, row)
  const { shown } = besideOf(state, sameAs).life
  return shown ? shown(sameAs.call) : sameAs.call
}

/**
 * The call as JSON, as one answer shows it: with the oddities that chance gives it, most often none.
 *
 * @param timeShift how far its times are ahead (seconds)
 */
export function showCall(service: WorldService, entry: Entry, operation: 'list' | 'get', timeShift: number): string {
  const { state, switches, streams } = service
  const names = drawOddities(streams.behaviours, switches.odd)
  const { sameAs = entry } = besideOf(state, entry)
  if (!names.includes('unusable')) state.shown.push(sameAs.call)
  if (names.length === 0 && timeShift === 0) {
    return wireText(sameAs, switches, () => wireOf(state, sameAs))
  }
  for (const name of names) reach(state, `odd.${name}`)
  const wire = withTimes({ ...formed(wireOf(state, entry), switches) }, (time) => time + timeShift)
  return JSON.stringify(oddly(wire, names, { random: streams.behaviours, operation }))
}

/** How far the times of the calls in an answer are ahead (seconds). */
export function drawShift({ switches: { shiftedAnswers, timeShift }, state }: WorldService): number {
  if (shiftedAnswers === 0 || !chance(state.streams.shifts, shiftedAnswers)) return 0
  reach(state, 'times.shifted')
  return timeShift
}
