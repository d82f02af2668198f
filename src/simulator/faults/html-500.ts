import { htmlReply } from '../reply.ts'
import type { Fault } from './fault.ts'

/** The service itself has failed, and its server says so in HTML. */
export const html500: Fault = () => htmlReply(500, '500 Internal Server Error')
