import type { LedgerEvent } from '../../../src/simulator/calls/ledger.ts'
import { setSwitches as setAny, createService, type CallsService } from '../../../src/simulator/answers/service.ts'
import { serve, type Simulator, type SimulatorOptions } from '../../../src/simulator/simulator.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { getCall } from './answers/get-call.ts'
import { listCalls } from './answers/list-calls.ts'
import { respond } from './answers/respond.ts'
import { stats } from './answers/stats.ts'
import { begin, happens } from './calls/begin.ts'
import { calm } from './calls/calm.ts'
import { planImport } from './calls/imports.ts'
import { expectedCalls, type ExpectedCall } from './oracle/expected-calls.ts'
import { setAside, type SetAside } from './oracle/set-aside.ts'
import { createState, type WorldState } from './state.ts'
import { allOf, defaultSwitches, switchTable, type Switches } from './switches.ts'

/**
 * The adversarial world: the service of `src/simulator`, with all that a service may do to a poller. It adds switches,
 * lives of calls (`calls/`), ways to answer (`answers/`), and what a correct daemon makes of it (`oracle/`).
 */
export type WorldService = CallsService & { switches: Switches; state: WorldState }

export type WorldOptions = Omit<SimulatorOptions, 'switches'> & { switches?: Partial<Switches> }

export type SimulatedWorld = Omit<Simulator, 'switches' | 'setSwitches'> & {
  switches: () => Switches
  /** @throws RangeError naming the switch that is unknown or has no such value */
  setSwitches: (patch: Partial<Switches>) => void
  /** What happened to each call by itself, until now. */
  expectedCalls: () => Map<string, ExpectedCall>
  /** The calls whose expected series depend on when one polls, by the reason. */
  setAside: () => SetAside
  /** Ends every fault, oddity and movement; what has happened stays. */
  heal: () => void
  /** How often each fault, order, oddity and event really happened; see `WorldState`. */
  reached: () => Record<string, number>
}

/** Starts the service on 127.0.0.1. @throws Error where the port is taken */
export async function startWorld(options: WorldOptions = {}): Promise<SimulatedWorld> {
  const { clock = () => Date.now() / 1000 } = options
  const service = createWorldService(options, clock())
  const simulator = await serve(service, { ...options, clock })
  const ledger = () => simulator.ledger()
  return {
    ...simulator,
    switches: () => service.switches,
    expectedCalls: () => expectedCalls(ledger(), clock()),
    setAside: () => setAside(ledger()),
    heal: () => {
      advance(service.world, clock(), service.switches)
      heal(service)
    },
    reached: () => Object.fromEntries(reachedBy({ ...service, world: { ledger: ledger() } })),
  }
}

/**
 * The service without a network, for `answer`.
 *
 * @param start seconds since 1970
 */
export function createWorldService(options: WorldOptions, start: number): WorldService {
  const state = createState(options.seed ?? 1, Math.round(start * 1000))
  const service = createService(options, start, {
    switches: switchTable,
    begin: (world, life, order, switches) => begin(state, world, { life, order }, allOf(switches)),
    happens: (world, entry, happening, switches) => happens(state, world, { entry, happening }, allOf(switches)),
    operations: {
      listCalls: (asked, what) => listCalls(worldOf(asked), what),
      getCall: (asked, what) => getCall(worldOf(asked), what),
      stats: (asked, what) => stats(worldOf(asked), what),
    },
    respond: (asked, request, at) => respond(worldOf(asked), request, at),
  })
  planImport(state, service.world, state.startMs)
  return Object.assign(service, { state, switches: allOf(service.switches) })
}

function worldOf(service: CallsService): WorldService {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `createWorldService` makes services with our answers
  return service as WorldService
}

/** @throws RangeError naming the switch that is unknown or has no such value */
export const setSwitches: (service: WorldService, patch: Partial<Switches>) => void = setAny

/**
 * Makes the service behave as its reference says: every fault, oddity and movement ends, and no call has anomalies any
 * more. What has happened stays, and what is turned still turns back: a call that has vanished for a while returns, one
 * that was reopened ends again. `arrivals` stays as it is.
 */
export function heal(service: WorldService): void {
  service.switches = { ...defaultSwitches, arrivals: service.switches.arrivals }
  service.state.cache.clear()
  calm(service.state, service.world)
}

/** Everything that really happened, the events of calls included. */
export function reachedBy({
  state,
  world,
}: {
  state: WorldState
  world: { ledger: readonly LedgerEvent[] }
}): Map<string, number> {
  const all = new Map(state.reached)
  for (const { event } of world.ledger) all.set(`event.${event}`, (all.get(`event.${event}`) ?? 0) + 1)
  return all
}
