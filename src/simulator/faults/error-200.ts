import { errorReply } from '../reply.ts'
import type { Fault } from './fault.ts'

/** 200 and an error in the body. */
export const error200: Fault = () => errorReply(200, 'ERR_INTERNAL_SERVER_ERROR', 'Something went wrong.')
