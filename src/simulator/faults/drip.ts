import type { Fault } from './fault.ts'

/** The right answer, a few bytes at a time, so that it never falls silent and hardly ever ends. */
export const drip: Fault = ({ reply }) => ({ ...reply, delivery: 'drip' })
