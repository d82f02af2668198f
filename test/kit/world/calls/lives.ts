import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'
import { setSwitches, type WorldService } from '../start-world.ts'
import type { Switches } from '../switches.ts'
import { advance } from '../../../../src/simulator/calls/world.ts'
import { wireOf } from '../answers/show-call.ts'
import { endArrivals, serviceOf, START } from '../request-service.ts'

export type Facts = Switches['facts']

/** `seconds` after the start of a world in which calls with these probabilities of facts arrive for ten minutes. */
export function worldWith(facts: Facts, seconds = 20_000, failedEnds: Switches['failedEnds'] = 'given'): WorldService {
  const options = { history: 0, callsPerMinute: 20, speed: 10, progressSeconds: 300 }
  const service = serviceOf({ ...options, switches: { facts, failedEnds } })
  advance(service.world, START + Math.min(600, seconds), service.switches)
  if (seconds >= 600) endArrivals(service)
  else setSwitches(service, { arrivals: false })
  advance(service.world, START + seconds, service.switches)
  return service
}

/** The events of each call, in a world in which every call has these facts, long after its last arrival. */
export function livesWith(facts: Facts): LedgerEvent[][] {
  const key = JSON.stringify(facts)
  const lives = drawn.get(key) ?? livesIn(worldWith(facts))
  drawn.set(key, lives)
  return lives
}

const drawn = new Map<string, LedgerEvent[][]>()

export const livesIn = ({ world }: WorldService): LedgerEvent[][] => [
  ...Map.groupBy(world.ledger, ({ call }) => call).values(),
]

export const wires = ({ world, state }: WorldService): Record<string, unknown>[] =>
  world.listing.map((entry) => wireOf(state, entry))

export const named = (events: LedgerEvent[], name: string): LedgerEvent[] =>
  events.filter(({ event }) => event === name)

export const some = (lives: LedgerEvent[][], holds: (events: LedgerEvent[]) => boolean): number =>
  lives.filter(holds).length
