import { chance } from '../draw.ts'
import { htmlReply } from '../reply.ts'
import type { Fault } from './fault.ts'
import { drawRetryAfter } from './retry-after.ts'

/** A proxy has nobody to ask, in HTML; half of the time it says when to come back. */
export const http503: Fault = ({ at, random }) => {
  const reply = htmlReply(503, '503 Service Temporarily Unavailable')
  if (chance(random, 0.5)) return reply
  return { ...reply, headers: { ...reply.headers, 'Retry-After': drawRetryAfter(random, at) } }
}
