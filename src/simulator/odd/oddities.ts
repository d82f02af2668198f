import type { Random } from '../random.ts'
import { fields } from './fields.ts'
import { milliseconds } from './milliseconds.ts'
import type { Oddity, OddityContext, Wire } from './oddity.ts'
import { spelling } from './spelling.ts'
import { unusable } from './unusable.ts'

/** How a call may be shown oddly, by the name that the switch `odd` knows it by, in the order in which they are done. */
export const oddities = { spelling, milliseconds, fields, unusable } satisfies Record<string, Oddity>

export type OddityName = keyof typeof oddities

export const oddityNames = Object.keys(oddities).filter(isOddityName)

/** Each oddity's probability for each call in each answer, 0 to 1, absent for 0. They are drawn apart. */
export type OddityProbabilities = Partial<Record<OddityName, number>>

/** The oddities that chance gives one call in one answer; most often none. */
export function drawOddities(random: Random, probabilities: OddityProbabilities): OddityName[] {
  return oddityNames.filter((name) => {
    const probability = probabilities[name] ?? 0
    return probability > 0 && random() < probability
  })
}

/** What the wire says with these oddities. */
export function showOddly(wire: Wire, names: readonly OddityName[], context: OddityContext): unknown {
  return names.reduce<unknown>((shown, name) => oddities[name](isWire(shown) ? shown : wire, context), wire)
}

export function isOddityName(name: string): name is OddityName {
  return Object.hasOwn(oddities, name)
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
