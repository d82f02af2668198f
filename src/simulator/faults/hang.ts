import type { Fault } from './fault.ts'

/** Nothing ever comes, and the connection stays open. */
export const hang: Fault = () => ({ status: 0, headers: {}, body: '', delivery: 'hang' })
