import { errorReply } from '../reply.ts'
import type { Fault } from './fault.ts'

/** The service itself has failed, and says so in its own form. */
export const http500: Fault = () => errorReply(500, 'ERR_INTERNAL_SERVER_ERROR', 'Something went wrong.')
