import type { Fault } from './fault.ts'

/** The connection is reset before a byte of the answer. */
export const reset: Fault = () => ({ status: 0, headers: {}, body: '', delivery: 'reset' })
