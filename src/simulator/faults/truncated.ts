import type { Fault } from './fault.ts'

/** The headers promise the whole answer, the connection ends in its middle. */
export const truncated: Fault = ({ reply }) => ({ ...reply, delivery: 'truncated' })
