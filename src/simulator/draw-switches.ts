import { faultNames } from './faults.ts'
import { oddityNames } from './oddities.ts'
import { ordinaryFacts } from './ordinary-facts.ts'
import { between, chance, random, weighted, whole, type Random } from './random.ts'
import { defaultSwitches, type Switches } from './switches.ts'

type DrawOptions = {
  /** A drawn limit of the list's age is never below this; 6 h by default. A comparison must poll more often. */
  fewestListedSeconds?: number
  /** A drawn deepest page is never before this; 20 by default. */
  fewestPages?: number
  /** The Date header is at most so many seconds off; an hour by default. */
  mostDateOffset?: number
}

/** At intensity 1 so many of all requests meet a fault. */
const FAULTS = 0.25
/** At intensity 1 so likely is each ordinary fact for a call, on average. */
const FACT = 0.04
/** Those that set a call aside come half as often, so that most calls can be compared. */
const SETTING_ASIDE = ['labels_changed', 'without_ended_at', 'final_changed', 'vanished', 'vanished_for_a_while']
/** At intensity 1 so likely is each odd way to show a call, on average. */
const ODDITY = 0.05
/** An item that cannot be used hides a call from a sweep: a twentieth of that is enough. */
const UNUSABLE = 0.05

/**
 * A whole set of switches from a seed: the same seed, the same switches. Every fault, ordinary fact and oddity has some
 * probability; orders, page sizes and the rest are drawn, most often to the calm default. `arrivals` and `outage` keep
 * their defaults: the simulation decides when the service is away.
 *
 * @param intensity 0 (calm, but for what is no fault, such as the order) to 1
 */
export function drawSwitches(seed: number | string, intensity: number, options: DrawOptions = {}): Switches {
  const { fewestListedSeconds = 6 * 3600, fewestPages = 20, mostDateOffset = 3600 } = options
  const stream = random(seed, 'switches')
  const rarely = chance(stream, intensity * 0.3)
  return {
    ...defaultSwitches,
    order: weighted(stream, [
      ['newest', 4],
      ['oldest', 2],
      ['shuffled', 1],
      ['changing', 2 * intensity],
    ]),
    getCall: weighted(stream, [
      ['wrapped', 1],
      ['bare', 1],
    ]),
    perPage: weighted<Switches['perPage']>(stream, [
      ['honoured', 3],
      ['ignored', 1],
      [whole(stream, 10, 90), 1],
    ]),
    perPageField: chance(stream, 0.5) ? 'given' : 'absent',
    total: chance(stream, 0.25) ? 'absent' : 'given',
    deepestPage: chance(stream, 0.2 * intensity) ? fewestPages + whole(stream, 0, fewestPages) : 'any',
    duplicates: chance(stream, 0.5) ? between(stream, 0, 0.5) * intensity : 0,
    listedSeconds: rarely ? Math.ceil(between(stream, 1, 4) * fewestListedSeconds) : 'forever',
    unlisted: chance(stream, 0.5) ? 'found' : 'not_found',
    date: chance(stream, 0.1 * intensity) ? 'absent' : 'given',
    dateOffset: chance(stream, 0.3 * intensity) ? Math.round(between(stream, -mostDateOffset, mostDateOffset)) : 0,
    rateLimitHeaders: weighted(stream, [
      ['X-RateLimit', 1],
      ['X-Rate-Limit', 1],
      ['absent', 1],
    ]),
    fault: shares(stream, faultNames, FAULTS * intensity),
    facts: independent(
      stream,
      Object.keys(ordinaryFacts),
      (name) => FACT * intensity * (SETTING_ASIDE.includes(name) ? 0.5 : 1),
    ),
    odd: independent(stream, oddityNames, (name) => ODDITY * intensity * (name === 'unusable' ? UNUSABLE : 1)),
  }
}

/** Probabilities that add up to `sum`, each at least a fifth of an equal share. */
function shares(stream: Random, names: readonly string[], sum: number): Record<string, number> {
  const weights = names.map((name) => [name, 0.25 + stream()] as const)
  const all = weights.reduce((total, [, weight]) => total + weight, 0)
  return Object.fromEntries(weights.map(([name, weight]) => [name, (sum * weight) / all]))
}

/** Probabilities from 0 to twice the mean. */
function independent(stream: Random, names: readonly string[], mean: (name: string) => number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, stream() * 2 * mean(name)]))
}
