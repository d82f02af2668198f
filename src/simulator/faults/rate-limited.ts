import { errorReply } from '../reply.ts'
import type { Fault } from './fault.ts'
import { drawRetryAfter } from './retry-after.ts'

/** 429 with Retry-After in either form, although no limit is reached. */
export const rateLimited: Fault = ({ at, random }) =>
  errorReply(429, 'ERR_TOO_MANY_REQUESTS', 'Too many requests.', { 'Retry-After': drawRetryAfter(random, at) })
