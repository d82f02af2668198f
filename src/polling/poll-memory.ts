import type { Clock } from '../clock/clock.ts'
import type { LedgerState } from '../ledger/state.ts'
import { backwardSteps, type BackwardSteps } from './backward-steps.ts'
import { UNSETTLED, type ClockDifference } from './clock-difference.ts'
import type { AskedAt } from './follow-ups.ts'
import { newListMemory, type ListMemory } from './list-memory.ts'

/** What the polls of a target remember from one to the next, beside what is committed. Changed in place. */
export type PollMemory = {
  list: ListMemory
  askedAt: AskedAt
  backward: BackwardSteps
  /** What answers have told of the service's clock before anything was counted. */
  clock: ClockDifference
}

/** What a first poll depends on. */
export function newPollMemory({ sync }: LedgerState, clock: Clock): PollMemory {
  const { lastComplete } = sync
  const sweptAt = lastComplete === undefined ? undefined : clock.monotonic() - Math.max(0, clock.wall() - lastComplete)
  return { list: newListMemory(sync, sweptAt), askedAt: new Map(), backward: backwardSteps(), clock: UNSETTLED }
}

/** How far a reading of the whole list has come. */
export type Progress = {
  /** Pages read. */
  done: number
  /** Pages that there are, as far as the service says. */
  of: number | undefined
}

/** That of the sweep which is under way; undefined where none is. */
export function progressOf({ list }: PollMemory): Progress | undefined {
  const sweep = list.main ?? list.sweep
  if (sweep === undefined) return undefined
  const { done, lastPage } = sweep
  // Of a list that moves a page may be read twice.
  return { done, of: lastPage && Math.max(done, lastPage) }
}
