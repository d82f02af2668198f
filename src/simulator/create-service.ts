import { random } from './random.ts'
import type { CallsService } from './service.ts'
import { defaultSwitches, patchSwitches } from './switches.ts'
import type { Switches } from './switches.ts'
import { advance, createWorld } from './world.ts'
import type { WorldOptions } from './world.ts'

export type ServiceOptions = Partial<WorldOptions> & {
  /** The key with the scope fullAccess. */
  apiKey?: string
  /** The key with the scope authOnly. */
  authOnlyKey?: string
  /** Requests a minute and key above which the service answers 429; absent: no limit and no rate-limit headers. */
  requestsPerMinute?: number
  switches?: Partial<Switches>
  /** true by default. */
  recordResponses?: boolean
  /** Above it the oldest recorded responses are dropped; 10,000 by default. */
  mostRecordedResponses?: number
  /** The same for the sum of their bodies' lengths; 200 million by default. */
  mostRecordedCharacters?: number
}

/**
 * The service without a network, for whoever answers requests on a clock of their own.
 *
 * @param start seconds since 1970
 * @throws RangeError as `setSwitches`
 */
export function createService(options: ServiceOptions, start: number): CallsService {
  const { seed = 1, requestsPerMinute, recordResponses = true, mostRecordedResponses = 10_000 } = options
  const { mostRecordedCharacters = 2e8 } = options
  const service: CallsService = {
    world: createWorld(worldOptions(options, seed), start),
    keys: {
      fullAccess: options.apiKey ?? 'simulator-full-access',
      authOnly: options.authOnlyKey ?? 'simulator-auth-only',
    },
    switches: defaultSwitches,
    order: 'newest',
    cache: new Map(),
    dates: 0,
    recorder: {
      responses: [],
      most: recordResponses ? mostRecordedResponses : 0,
      mostCharacters: mostRecordedCharacters,
      characters: 0,
      dropped: 0,
    },
    ...(requestsPerMinute === undefined ? {} : { rateLimit: { perMinute: requestsPerMinute, admitted: new Map() } }),
    streams: {
      faults: random(seed, 'faults'),
      behaviours: random(seed, 'behaviours'),
      order: random(seed, 'order'),
      tokens: random(seed, 'tokens'),
      replica: random(seed, 'replica'),
      dates: random(seed, 'dates'),
    },
  }
  setSwitches(service, options.switches ?? {})
  advance(service.world, start, service.switches)
  return service
}

/** @throws RangeError naming the switch that is unknown or has no such value */
export function setSwitches(service: CallsService, patch: Partial<Switches>): void {
  const result = patchSwitches(service.switches, patch)
  if ('problem' in result) throw new RangeError(result.problem)
  service.switches = result.switches
}

function worldOptions(options: ServiceOptions, seed: number | string): WorldOptions {
  const { speed = 1, callsPerMinute = 30, answerProbability = 0.75, progressSeconds = 15 } = options
  const { history = 100, historySeconds, open = 3, foldLedger = false } = options
  const spread = historySeconds === undefined ? {} : { historySeconds }
  return { seed, speed, callsPerMinute, answerProbability, progressSeconds, history, open, foldLedger, ...spread }
}
