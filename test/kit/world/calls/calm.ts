import { planStep, type World } from '../../../../src/simulator/calls/world.ts'
import { besideOf, type WorldState } from '../state.ts'
import { calmed, turnedCourse } from './turn.ts'

/** From now on the calls have no further anomalies; what is turned still turns back, and what would last for years ends. */
export function calm(state: WorldState, world: World): void {
  const { nowMs } = world
  for (const entry of [...[...world.entries.values()].flat(), ...state.hidden]) {
    if (!entry.course) continue
    const beside = besideOf(state, entry)
    const { endsWhenHealed, ...life } = calmed(beside.life, nowMs)
    beside.life = endsWhenHealed ? { ...life, endedMs: nowMs + 1 } : life
    entry.course = turnedCourse(beside.life)
    if (endsWhenHealed) planStep(world, entry, nowMs + 1)
  }
}
