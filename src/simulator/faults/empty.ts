import type { Fault } from './fault.ts'

/** 200 and no body. */
export const empty: Fault = ({ reply }) => ({ ...reply, status: 200, body: '' })
