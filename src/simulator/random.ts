/** A source of numbers in [0, 1). */
export type Random = () => number

/**
 * A reproducible source of random numbers: sfc32 (Doty-Humphrey, PractRand), with a state that is filled by a hash of the
 * path. Different paths give independent streams, so that the draws for one call never change those for another.
 *
 * @param path the seed, then the purpose of the stream, e.g. `random(seed, 'call', 17)`
 */
export function random(...path: (string | number)[]): Random {
  let [a, b, c, d] = hash(path.join('/'))
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    c |= 0
    return (t >>> 0) / 4294967296
  }
  // The generator's authors advise to discard the first outputs, because similar seeds start alike.
  for (let i = 0; i < 12; i++) next()
  return next
}

/** FNV-1a with four offsets, each finished by the mixer of MurmurHash3. */
function hash(text: string): [number, number, number, number] {
  const word = (offset: number): number => {
    let h = 2166136261 ^ offset
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619)
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
    return (h ^ (h >>> 16)) | 0
  }
  return [word(0), word(0x9e3779b9), word(0x3c6ef372), word(0xdaa66d2b)]
}

/** A value from `low` (included) to `high` (excluded), evenly distributed. */
export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low)
}

/** A whole number from `low` to `high`, both included, evenly distributed. */
export function whole(random: Random, low: number, high: number): number {
  return Math.floor(between(random, low, high + 1))
}

/** One of the items, all equally likely. There must be at least one. */
export function pick<const Item>(random: Random, items: readonly Item[]): Item {
  return items[whole(random, 0, items.length - 1)]!
}

/** True with the given probability, 0 to 1. */
export function chance(random: Random, probability: number): boolean {
  return random() < probability
}

/** The gap between two arrivals of a Poisson process with this mean gap. */
export function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random()) * mean
}

/** A log-normal value (Box and Muller 1958): half of the values are below `median`; `sigma` applies to the logarithm. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * Math.exp(sigma * normal)
}

/** One of the items, with a probability proportional to its weight. Weights are 0 or more, and not all 0. */
export function weighted<Item>(random: Random, choices: readonly (readonly [item: Item, weight: number])[]): Item {
  let left = random() * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [item, weight] of choices) {
    left -= weight
    if (left < 0) return item
  }
  return choices.findLast(([, weight]) => weight > 0)![0]
}

/** A text of `size` hexadecimal digits. */
export function hex(random: Random, size: number): string {
  let digits = ''
  while (digits.length < size) digits += Math.floor(random() * 16).toString(16)
  return digits
}
