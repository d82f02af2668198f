import type { Seat } from '../life.ts'
import type { Fact } from './fact.ts'

const TIMES = 30

/**
 * All over within a few seconds, between two polls. Truth: as of any other call.
 */
export const swift: Fact = (life) => {
  const { initiatedMs, startedMs, endedMs, recordedFromMs } = life
  const sooner = (ms: number): number => initiatedMs + Math.ceil((ms - initiatedMs) / TIMES)
  const joins = ({ fromMs, toMs, cameraFromMs, cameraToMs }: Seat['joins'] & {}): Seat['joins'] & {} => ({
    fromMs: sooner(fromMs),
    toMs: sooner(toMs),
    cameraFromMs: sooner(cameraFromMs),
    cameraToMs: sooner(cameraToMs),
  })
  return {
    ...life,
    seats: life.seats.map((seat) => (seat.joins ? { ...seat, joins: joins(seat.joins) } : seat)),
    endedMs: sooner(endedMs),
    ...(startedMs === undefined ? {} : { startedMs: sooner(startedMs) }),
    ...(recordedFromMs === undefined ? {} : { recordedFromMs: sooner(recordedFromMs) }),
  }
}
