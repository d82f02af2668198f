import type { Clock } from '../clock/clock.ts'
import type { LedgerState } from '../ledger/state.ts'
import { backwardSteps, type BackwardSteps } from './backward-steps.ts'
import { UNSETTLED, type ClockDifference } from './clock-difference.ts'
import type { AskedAt } from './follow-ups.ts'
import { newListMemory, type ListMemory } from './list-memory.ts'

/** What the cycles of a target remember from one to the next, beside what is committed. Changed in place. */
export type WatchMemory = {
  list: ListMemory
  askedAt: AskedAt
  backward: BackwardSteps
  /** What answers have told of the service's clock before anything was counted. */
  clock: ClockDifference
}

/** What a first cycle goes by. */
export function newWatchMemory({ facts }: LedgerState, clock: Clock): WatchMemory {
  const { lastComplete } = facts
  const sweptAt = lastComplete === undefined ? undefined : clock.monotonic() - Math.max(0, clock.wall() - lastComplete)
  return { list: newListMemory(facts, sweptAt), askedAt: new Map(), backward: backwardSteps(), clock: UNSETTLED }
}
