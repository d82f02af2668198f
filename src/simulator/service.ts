import type { Keys, RateLimit } from './admission.ts'
import type { Reply } from './http.ts'
import { reach } from './ledger.ts'
import type { Order } from './list-order.ts'
import { hex, random, type Random } from './random.ts'
import type { Recorder } from './responses.ts'
import { defaultSwitches, patchSwitches, type Switches } from './switches.ts'
import { advance, calm, createWorld, type World, type WorldOptions } from './world.ts'

/** The calls service without a network: all that `answer` needs to answer one request at a given time. */
export type CallsService = {
  world: World
  keys: Keys
  switches: Switches
  /** The order in which calls were listed last. */
  order: Order
  recorder: Recorder
  /** Pages that are answered again for a while, by what was asked for; `at` in seconds since 1970. */
  cache: Map<string, { at: number; reply: Reply }>
  /** How many answers have had a Date. */
  dates: number
  /** Absent: any number of requests. */
  rateLimit?: RateLimit
  /** Streams of the seed, each for one purpose. */
  streams: Record<'faults' | 'behaviours' | 'order' | 'tokens' | 'replica' | 'dates' | 'shifts', Random>
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
  /** true by default. */
  recordResponses?: boolean
  /** Above it the oldest recorded responses are dropped; 10,000 by default. */
  mostRecordedResponses?: number
  /** The same for the sum of their bodies' lengths; 200 million by default. */
  mostRecordedCharacters?: number
}

/**
 * @param start seconds since 1970
 * @throws RangeError as `setSwitches`
 */
export function createService(options: ServiceOptions, start: number): CallsService {
  const { seed = 1, requestsPerMinute, recordResponses = true, mostRecordedResponses = 10_000 } = options
  const { speed = 1, callsPerMinute = 30, answerProbability = 0.75, progressSeconds = 15 } = options
  const { history = 100, historySeconds, weekly = false, open = 3, arrivalsFrom = start } = options
  const spread = { weekly, ...(historySeconds !== undefined && { historySeconds }) }
  const manners = { speed, callsPerMinute, answerProbability, progressSeconds }
  const service: CallsService = {
    world: createWorld({ seed, ...manners, history, open, ...spread }, arrivalsFrom),
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
      mostCharacters: options.mostRecordedCharacters ?? 2e8,
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
      shifts: random(seed, 'shifts'),
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

/**
 * Makes the service behave as its reference says: every fault, oddity and movement ends, and no call has anomalies any
 * more. What has happened stays, and what is turned still turns back: a call that has vanished for a while returns, one
 * that was reopened ends again. `arrivals` stays as it is.
 */
export function heal(service: CallsService): void {
  service.switches = { ...defaultSwitches, arrivals: service.switches.arrivals }
  service.cache.clear()
  calm(service.world)
}

/** Gives the scope fullAccess to another key and removes the old one; returns the new one. */
export function rotateKey({ keys, streams, world }: CallsService, key = `rotated-${hex(streams.tokens, 24)}`): string {
  keys.fullAccess = key
  reach(world.reached, 'key.rotated')
  return key
}
