import { chance, whole } from '../draw.ts'
import { errorReply } from '../reply.ts'
import type { Fault } from './fault.ts'

/** 429 with Retry-After 1 to 3 s ahead, half of them in seconds and half as a date (RFC 9110 §10.2.3). */
export const rateLimited: Fault = ({ at, random }) => {
  const seconds = whole(random, 1, 3)
  const retryAfter = chance(random, 0.5) ? String(seconds) : new Date(Math.ceil(at + seconds) * 1000).toUTCString()
  return errorReply(429, 'ERR_TOO_MANY_REQUESTS', 'Too many requests.', { 'Retry-After': retryAfter })
}
