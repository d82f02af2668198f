import { htmlReply } from '../reply.ts'
import type { Fault } from './fault.ts'

/** A proxy before the service answers, in HTML. */
export const http502: Fault = () => htmlReply(502, '502 Bad Gateway')
