import { htmlReply } from '../reply.ts'
import type { Fault } from './fault.ts'

/** 200 and a page of something that stands before the service. */
export const html200: Fault = () => htmlReply(200, 'Down for maintenance')
