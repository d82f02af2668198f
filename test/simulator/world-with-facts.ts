import { createService, setSwitches } from '../../src/simulator/create-service.ts'
import type { FactName } from '../../src/simulator/facts/facts.ts'
import type { LedgerEvent } from '../../src/simulator/ledger.ts'
import { entryAt, sizeOf, wireOf } from '../../src/simulator/listing.ts'
import { answer } from '../../src/simulator/service.ts'
import type { CallsService } from '../../src/simulator/service.ts'
import { advance } from '../../src/simulator/world.ts'

export const START = 1_800_000_000

export type Facts = Partial<Record<FactName, number>>

/** A world in which calls with these probabilities of facts arrive for ten minutes, `seconds` after its start. */
export function serviceOf(facts: Facts, seconds: number, arrivals = 600): CallsService {
  const options = { history: 0, open: 0, callsPerMinute: 20, speed: 10, progressSeconds: 300, recordResponses: false }
  const service = createService({ ...options, switches: { facts } }, START)
  advance(service.world, START + Math.min(arrivals, seconds), service.switches)
  setSwitches(service, { arrivals: false })
  advance(service.world, START + seconds, service.switches)
  return service
}

/** The events of each call in a world in which every call has these facts, long after its last arrival. */
export function livesWith(facts: Facts, seconds = 20_000): LedgerEvent[][] {
  return livesIn(serviceOf(facts, seconds))
}

export const livesIn = (service: CallsService): LedgerEvent[][] => [
  ...Map.groupBy(service.world.ledger, ({ sessionId }) => sessionId).values(),
]

export const wires = ({ world }: CallsService): Record<string, unknown>[] =>
  Array.from({ length: sizeOf(world.listing) }, (_none, index) => wireOf(entryAt(world.listing, index)))

export const named = (events: LedgerEvent[], name: string): LedgerEvent[] =>
  events.filter(({ event }) => event === name)
export const some = (lives: LedgerEvent[][], holds: (events: LedgerEvent[]) => boolean): number =>
  lives.filter(holds).length

export const minutesOf = ({ callMinutes, participantMinutes }: LedgerEvent): number[] => [
  callMinutes.audio,
  callMinutes.video,
  participantMinutes.audio,
  participantMinutes.video,
]

/** The status of Get Call. */
export function get(service: CallsService, sessionId: string, at: number): number {
  const path = `/v3/calls/${encodeURIComponent(sessionId)}`
  return answer(service, { method: 'GET', path, query: '', headers: { apikey: service.keys.fullAccess } }, at).reply
    .status
}
