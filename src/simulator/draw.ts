import type { Random } from './random.ts'

/** A value between `low` (included) and `high` (not included), evenly. */
export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low)
}

/** A whole number from `low` to `high`, both included, evenly. */
export function whole(random: Random, low: number, high: number): number {
  return Math.floor(between(random, low, high + 1))
}

/** True with the given probability, 0 to 1. */
export function chance(random: Random, probability: number): boolean {
  return random() < probability
}

/** The gap between two arrivals of a Poisson process with this mean gap. */
export function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random()) * mean
}

/** Log-normal by Box and Muller (1958): half of the values are below `median`; `sigma` is that of the logarithm. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * Math.exp(sigma * normal)
}

/** One of the items, each as often as its weight says. Weights are 0 or more and not all 0. */
export function weighted<Item>(random: Random, choices: readonly (readonly [item: Item, weight: number])[]): Item {
  let left = random() * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [item, weight] of choices) {
    left -= weight
    if (left < 0) return item
  }
  return choices.findLast(([, weight]) => weight > 0)![0]
}

/** `size` hexadecimal digits. */
export function hex(random: Random, size: number): string {
  let digits = ''
  while (digits.length < size) digits += Math.floor(random() * 16).toString(16)
  return digits
}
