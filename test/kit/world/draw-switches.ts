import { between, chance, random, whole } from '../../../src/simulator/random.ts'
import { drawSwitches as draw } from '../../../src/simulator/switches.ts'
import { defaultSwitches, switchTable, type Switches } from './switches.ts'

type DrawOptions = {
  /** A drawn limit of the list's age is never below this; 6 h by default. A comparison must poll more often. */
  fewestListedSeconds?: number
  /** A drawn deepest page is never before this; 20 by default. */
  fewestPages?: number
  /** The Date header is at most so many seconds off; an hour by default. */
  mostDateOffset?: number
}

/**
 * A whole set of switches from a seed: the same seed, the same switches. Every fault, ordinary fact and oddity has some
 * probability; orders, page sizes and the rest are drawn, most often to the calm default. `arrivals` and `outage` keep
 * their defaults: the simulation decides when the service is away.
 *
 * @param intensity 0 (calm, but for what is no fault, such as the order) to 1
 */
export function drawSwitches(seed: number | string, intensity: number, options: DrawOptions = {}): Switches {
  const { fewestListedSeconds = 6 * 3600, fewestPages = 20, mostDateOffset = 3600 } = options
  const stream = random(seed, 'limits')
  const isShort = chance(stream, 0.3 * intensity)
  const isShallow = chance(stream, 0.2 * intensity)
  const isOff = chance(stream, 0.3 * intensity)
  return {
    ...defaultSwitches,
    ...draw(switchTable, seed, intensity),
    listedSeconds: isShort ? Math.ceil(between(stream, 1, 4) * fewestListedSeconds) : 'forever',
    deepestPage: isShallow ? fewestPages + whole(stream, 0, fewestPages) : 'any',
    dateOffset: isOff ? Math.round(between(stream, -mostDateOffset, mostDateOffset)) : 0,
  }
}
