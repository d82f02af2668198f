import type { Clock } from '../clock/clock.ts'
import { isOrderRefuted } from '../ledger/list-facts.ts'
import { NO_LIST_FACTS, type SyncState, type ListFacts } from '../ledger/state.ts'
import { evidenceOf, NO_EVIDENCE, provenOrder, type ListOrder, type OrderEvidence } from './list-order.ts'
import type { Sweep } from './sweep.ts'

/** Polls in a row that ask again what a total means before the whole list is read. */
export const ASKED_AGAIN = 2

/** What the polls of a target remember of its list from one to the next, beside what is committed. Changed in place. */
export type ListMemory = {
  order: OrderEvidence
  /** What is known for good; a new object where it changes, which the poll commits. */
  facts: ListFacts
  /** How many items a page has that is not the last, as the latest ones showed. */
  pageSize: number
  /** Calls that became known since the last successful poll. */
  readonly fresh: Set<string>
  /** Polls in a row whose total the new calls did not explain. */
  unexplained: number
  /** New calls took more pages than a poll may read: the main reading goes on, poll by poll. */
  isBehind: boolean
  /** Readings that found new calls where the order says that there are none. */
  misplaced: number
  /** The reading on which the poll itself depends: nothing else proves that it missed nothing. */
  main: Sweep | undefined
  /** The reading that goes on beside polls which prove themselves. */
  sweep: Sweep | undefined
  /** When the last complete sweep began (monotonic seconds), how long it took, and how many pages it read. */
  sweptAt: number | undefined
  sweepSeconds: number
  sweepPages: number
  /** The first page that the service refuses to show, where it does. */
  refusedFrom: number | undefined
  /** When the page at the far end could last not be read (monotonic seconds). */
  endUnreadableAt: number | undefined
  /** The deep page that a sweep could not read, and how many polls in a row. */
  unreadable: { page: number; times: number } | undefined
  /** The total with which the last page was full, or too short. */
  oddAt: number | undefined
  /** Polls in a row in which the list had shrunk, and tracked calls were unknown as well. */
  shrunk: number
  /** Since when the list has shrunk and is not believed (monotonic seconds). */
  shrunkSince: number | undefined
}

/** @param sweptAt when the last complete sweep began (monotonic seconds) */
export function newListMemory(
  { list, listFacts }: Pick<SyncState, 'list' | 'listFacts'>,
  sweptAt: number | undefined,
): ListMemory {
  return {
    order: list === undefined ? NO_EVIDENCE : evidenceOf(list.order),
    facts: listFacts ?? NO_LIST_FACTS,
    pageSize: 1,
    fresh: new Set(),
    unexplained: 0,
    isBehind: false,
    misplaced: 0,
    main: undefined,
    sweep: undefined,
    sweptAt,
    sweepSeconds: 0,
    sweepPages: 0,
    refusedFrom: undefined,
    endUnreadableAt: undefined,
    unreadable: undefined,
    oddAt: undefined,
    shrunk: 0,
    shrunkSince: undefined,
  }
}

/** Gives up what was read of the list so far: the next poll reads it as a whole. */
export function forgetProgress(memory: ListMemory): void {
  memory.main = undefined
  memory.sweep = undefined
  memory.sweptAt = undefined
}

/** The order that polls may rely on: what pages have shown, unless it was refuted within a day of `now` (UNIX seconds). */
export function believedOrder({ order, facts }: ListMemory, now: number): ListOrder {
  return isOrderRefuted(facts, now) ? 'unknown' : provenOrder(order)
}

/** A reading to the end that began at `now` (UNIX seconds) has found every page in order. */
export function proveOrder(memory: ListMemory, now: number): void {
  const { orderRefutedAt: _before, ...facts } = memory.facts
  memory.facts = { ...facts, orderVerifiedAt: now }
}

/** The list is not in the order that was believed: for a day every poll reads it to its end. */
export function refuteOrder(memory: ListMemory, now: number): void {
  memory.order = NO_EVIDENCE
  const { orderVerifiedAt: _before, ...facts } = memory.facts
  memory.facts = { ...facts, orderRefutedAt: now }
}

/** Notes that a sweep is complete which began then (monotonic seconds). */
export function concludeSweep(
  memory: ListMemory,
  clock: Clock,
  { startedAt, done }: Pick<Sweep, 'startedAt' | 'done'>,
): void {
  memory.sweep = undefined
  memory.main = undefined
  memory.unexplained = 0
  memory.isBehind = false
  memory.sweepPages = done
  memory.sweepSeconds = clock.monotonic() - startedAt
  memory.sweptAt = startedAt
}
