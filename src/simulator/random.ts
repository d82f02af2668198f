/** A source of numbers in [0, 1). */
export type Random = () => number

/**
 * A reproducible source of random numbers: sfc32 (Doty-Humphrey, PractRand), its state filled by a hash of the path.
 * Different paths give unrelated streams, so that one call's draws never move another's.
 *
 * @param path the seed first, then what the stream is for, e.g. `random(seed, 'call', 17)`
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
  // The generator's authors advise to throw the first outputs away: similar seeds begin alike.
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
