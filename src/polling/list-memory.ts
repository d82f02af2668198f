import type { Clock } from '../clock/clock.ts'
import type { ListKnowledge } from '../ledger/state.ts'
import { evidenceOf, NO_EVIDENCE, type OrderEvidence } from './list-order.ts'
import type { Sweep } from './sweep.ts'

/** What the looks at a target remember from one to the next, beside what is committed. Changed in place. */
export type ListMemory = {
  order: OrderEvidence
  /** Calls that came to be known since the last good look. */
  readonly fresh: Set<string>
  /** The sweep that is under way. */
  sweep: Sweep | undefined
  /** When the last whole look began (monotonic seconds), and how long it took. */
  sweptAt: number | undefined
  sweepSeconds: number
  sweepBegan: number
  /** How many pages the last whole look read. */
  sweepPages: number
  /** The first page that the service refuses to show, where it does. */
  refusedFrom: number | undefined
}

export function newListMemory(list: ListKnowledge | undefined, sweptAt: number | undefined): ListMemory {
  const order = list === undefined ? NO_EVIDENCE : evidenceOf(list.order)
  return {
    order,
    fresh: new Set(),
    sweep: undefined,
    sweptAt,
    sweepSeconds: 0,
    sweepBegan: 0,
    sweepPages: 0,
    refusedFrom: undefined,
  }
}

/** Gives up what was read of the list so far: the next look reads it as a whole. */
export function forgetProgress(memory: ListMemory): void {
  memory.sweep = undefined
  memory.sweptAt = undefined
}

/** Notes that the whole list was read, by a look or by a sweep that began then (monotonic seconds). */
export function concludeSweep(memory: ListMemory, clock: Clock, begun: number): void {
  memory.sweep = undefined
  memory.sweepSeconds = clock.monotonic() - begun
  memory.sweptAt = begun
}
