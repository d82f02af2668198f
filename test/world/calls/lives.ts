import type { LedgerEvent } from '../../src/simulator/ledger.ts'
import { entriesOf, wireOf } from '../../src/simulator/listing.ts'
import { setSwitches, type CallsService } from '../../src/simulator/service.ts'
import type { Switches } from '../../src/simulator/switches.ts'
import { advance } from '../../src/simulator/world.ts'
import { serviceOf, START } from './request-service.ts'

export type Facts = Switches['facts']

/** `seconds` after the start of a world in which calls with these probabilities of facts arrive for ten minutes. */
export function worldWith(facts: Facts, seconds = 20_000): CallsService {
  const options = { history: 0, callsPerMinute: 20, speed: 10, progressSeconds: 300 }
  const service = serviceOf({ ...options, switches: { facts } })
  advance(service.world, START + Math.min(600, seconds), service.switches)
  setSwitches(service, { arrivals: false })
  advance(service.world, START + seconds, service.switches)
  return service
}

/** The events of each call, in a world in which every call has these facts, long after its last arrival. */
export const livesWith = (facts: Facts): LedgerEvent[][] => livesIn(worldWith(facts))

export const livesIn = ({ world }: CallsService): LedgerEvent[][] => [
  ...Map.groupBy(world.ledger, ({ sessionId }) => sessionId).values(),
]

export const wires = ({ world }: CallsService): Record<string, unknown>[] => entriesOf(world.listing).map(wireOf)

export const named = (events: LedgerEvent[], name: string): LedgerEvent[] =>
  events.filter(({ event }) => event === name)

export const some = (lives: LedgerEvent[][], holds: (events: LedgerEvent[]) => boolean): number =>
  lives.filter(holds).length
