import { chance, whole } from '../draw.ts'
import type { Random } from '../random.ts'

/** Retry-After 1 to 3 s ahead, half of them in seconds and half as a date (RFC 9110 §10.2.3). */
export function drawRetryAfter(random: Random, at: number): string {
  const seconds = whole(random, 1, 3)
  return chance(random, 0.5) ? String(seconds) : new Date(Math.ceil(at + seconds) * 1000).toUTCString()
}
