import type { Keys, RateLimit } from './admission.ts'
import { createWorld } from '../calls/arrivals.ts'
import type { Extension } from '../extension.ts'
import { random, type Random } from '../random.ts'
import type { Recorder } from './responses.ts'
import { defaultsOf, patchSwitches, switchTable, type Switches, type SwitchTable } from '../switches.ts'
import { advance, type World, type WorldOptions } from '../calls/world.ts'

/** The calls service without a network: everything that `answer` needs to answer a request at a given time. */
export type CallsService = {
  world: World
  keys: Keys
  switchTable: SwitchTable
  switches: Switches
  recorder: Recorder
  /** Absent if any number of requests is allowed. */
  rateLimit?: RateLimit
  /** Random streams from the seed, each for one purpose. */
  streams: Record<'faults' | 'behaviours' | 'tokens' | 'webhooks', Random>
}

export type ServiceOptions = Partial<WorldOptions> & {
  /** The key with the scope fullAccess. */
  apiKey?: string
  /** The key with the scope authOnly. */
  authOnlyKey?: string
  /**
   * With more requests a minute and key, the service answers 429. If absent, there are no limit and no rate-limit headers.
   */
  requestsPerMinute?: number
  switches?: Partial<Switches>
  /** If there are more recorded responses, the oldest are dropped; default: 10,000. With 0, none are recorded. */
  mostRecordedResponses?: number
  /** The same limit for the sum of their bodies' lengths; default: 200 million. */
  mostRecordedCharacters?: number
}

const DEFAULTS = { speed: 1, callsPerMinute: 30, answerProbability: 0.75, progressSeconds: 15, history: 100, open: 3 }

/**
 * @param start UNIX seconds
 * @throws RangeError like `setSwitches`
 */
export function createService(
  options: ServiceOptions,
  start: number,
  extension: Partial<Extension> = {},
): CallsService {
  const { seed = 1, requestsPerMinute, mostRecordedResponses: most = 10_000 } = options
  const table = { ...switchTable, ...extension.switches }
  const service: CallsService = {
    world: createWorld({ ...DEFAULTS, seed, ...options }, start, extension),
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
      webhooks: random(seed, 'webhooks'),
    },
  }
  setSwitches(service, options.switches ?? {})
  advance(service.world, start, service.switches)
  return service
}

/** @throws RangeError that names the unknown switch, or the switch with an invalid value */
export function setSwitches(service: CallsService, patch: Partial<Switches>): void {
  const result = patchSwitches(service.switchTable, service.switches, patch)
  if ('problem' in result) throw new RangeError(result.problem)
  service.switches = result.switches
}
