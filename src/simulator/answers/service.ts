import type { Keys, RateLimit } from './admission.ts'
import { createWorld } from '../calls/arrivals.ts'
import type { Extension } from '../extension.ts'
import { random, type Random } from '../random.ts'
import type { Recorder } from './responses.ts'
import { defaultsOf, patchSwitches, switchTable, type Switches, type SwitchTable } from '../switches.ts'
import { advance, type World, type WorldOptions } from '../calls/world.ts'

/** The calls service without a network: all that `answer` needs to answer one request at a given time. */
export type CallsService = {
  world: World
  keys: Keys
  switchTable: SwitchTable
  switches: Switches
  recorder: Recorder
  /** Absent: any number of requests. */
  rateLimit?: RateLimit
  /** Streams of the seed, each for one purpose. */
  streams: Record<'faults' | 'behaviours' | 'tokens', Random>
}

export type ServiceOptions = Partial<WorldOptions> & {
  /**
   * Seconds since 1970: before it lies the history, after it the calls arrive; when it is created, by default. With a later
   * time, the history is yet to happen.
   */
  arrivalsFrom?: number
  /** The key with the scope fullAccess. */
  apiKey?: string
  /** The key with the scope authOnly. */
  authOnlyKey?: string
  /** Requests a minute and key above which the service answers 429; absent: no limit and no rate-limit headers. */
  requestsPerMinute?: number
  switches?: Partial<Switches>
  /** Above it the oldest recorded responses are dropped; 10,000 by default, none are recorded at 0. */
  mostRecordedResponses?: number
  /** The same for the sum of their bodies' lengths; 200 million by default. */
  mostRecordedCharacters?: number
}

const DEFAULTS = { speed: 1, callsPerMinute: 30, answerProbability: 0.75, progressSeconds: 15, history: 100, open: 3 }

/**
 * @param start seconds since 1970
 * @throws RangeError as `setSwitches`
 */
export function createService(
  options: ServiceOptions,
  start: number,
  extension: Partial<Extension> = {},
): CallsService {
  const { seed = 1, arrivalsFrom = start, requestsPerMinute, mostRecordedResponses: most = 10_000 } = options
  const table = { ...switchTable, ...extension.switches }
  const service: CallsService = {
    world: createWorld({ ...DEFAULTS, seed, ...options }, arrivalsFrom, extension),
    keys: {
      fullAccess: options.apiKey ?? 'simulator-full-access',
      authOnly: options.authOnlyKey ?? 'simulator-auth-only',
    },
    switchTable: table,
    switches: defaultsOf(table),
    recorder: { responses: [], most, mostCharacters: options.mostRecordedCharacters ?? 2e8, characters: 0 },
    ...(requestsPerMinute === undefined ? {} : { rateLimit: { perMinute: requestsPerMinute, admitted: new Map() } }),
    streams: {
      faults: random(seed, 'faults'),
      behaviours: random(seed, 'behaviours'),
      tokens: random(seed, 'tokens'),
    },
  }
  setSwitches(service, options.switches ?? {})
  advance(service.world, start, service.switches)
  return service
}

/** @throws RangeError naming the switch that is unknown or has no such value */
export function setSwitches(service: CallsService, patch: Partial<Switches>): void {
  const result = patchSwitches(service.switchTable, service.switches, patch)
  if ('problem' in result) throw new RangeError(result.problem)
  service.switches = result.switches
}
