import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares in constant time, also texts of different lengths. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

/** SHA-256. */
export function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest()
}
