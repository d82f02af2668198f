import type { Clock } from '../clock/clock.ts'
import { isOrderRefuted } from '../ledger/list-traits.ts'
import { NO_LIST_TRAITS, type SyncState, type ListTraits } from '../ledger/state.ts'
import { evidenceOf, NO_EVIDENCE, knownOrder, type ListOrder, type OrderEvidence } from './list-order.ts'
import type { Sweep } from './sweep.ts'

/** Polls in a row with an unexplained total, before the whole list is read. */
export const UNEXPLAINED_POLLS = 2

/** What the polls of a target remember of its list, beside what is committed. Changed in place. */
export type ListMemory = {
  order: OrderEvidence
  /** The poll commits them; replaced by a new object when they change. */
  traits: ListTraits
  /** Number of items on a page that is not the last, as the latest pages showed. */
  pageSize: number
  /** Calls that became known since the last successful poll. */
  readonly newIds: Set<string>
  /** Polls in a row whose total the new calls did not explain. */
  unexplainedPolls: number
  /** The new calls are on more pages than a poll may read: the foreground sweep reads them, over several polls. */
  isBehind: boolean
  /** Sweeps that found new calls where the order allows none. */
  misplacedSweeps: number
  /** The sweep that must end before a poll can be successful; undefined if the total can verify polls. */
  foreground: Sweep | undefined
  /** The sweep that runs beside successful polls. */
  background: Sweep | undefined
  /** When the last complete sweep began (monotonic seconds), how long it took, and how many pages it read. */
  sweptAt: number | undefined
  sweepSeconds: number
  sweepPages: number
  /** The first page that the service refuses to show. */
  refusedFrom: number | undefined
  /** The page past the last one that was last answered with an error, and the number of items before it. */
  errorPastLast: { page: number; items: number } | undefined
  /** When reading the page at the oldest end last failed (monotonic seconds). */
  oldestEndFailedAt: number | undefined
  /** The page that a sweep could not read, and in how many polls in a row. */
  failingPage: { page: number; times: number } | undefined
  /** A total that may be wrong, because the last page by it was full or too short. */
  suspectTotal: number | undefined
  /** Polls in a row in which the list had shrunk, and Get Call did not know the missing calls either. */
  shrunkPolls: number
  /** Since when the list has shrunk and this is not accepted (monotonic seconds). */
  shrunkSince: number | undefined
}

/** @param sweptAt when the last complete sweep began (monotonic seconds) */
export function newListMemory(
  { list, listTraits }: Pick<SyncState, 'list' | 'listTraits'>,
  sweptAt: number | undefined,
): ListMemory {
  return {
    order: list === undefined ? NO_EVIDENCE : evidenceOf(list.order),
    traits: listTraits ?? NO_LIST_TRAITS,
    pageSize: 1,
    newIds: new Set(),
    unexplainedPolls: 0,
    isBehind: false,
    misplacedSweeps: 0,
    foreground: undefined,
    background: undefined,
    sweptAt,
    sweepSeconds: 0,
    sweepPages: 0,
    refusedFrom: undefined,
    errorPastLast: undefined,
    oldestEndFailedAt: undefined,
    failingPage: undefined,
    suspectTotal: undefined,
    shrunkPolls: 0,
    shrunkSince: undefined,
  }
}

/** Drops the running sweeps; a new one is due at once. */
export function restartSweeps(memory: ListMemory): void {
  memory.foreground = undefined
  memory.background = undefined
  memory.sweptAt = undefined
}

/** The order that polls may rely on: the one that pages showed, unless it was refuted within a day of `now` (UNIX seconds). */
export function believedOrder({ order, traits }: ListMemory, now: number): ListOrder {
  return isOrderRefuted(traits, now) ? 'unknown' : knownOrder(order)
}

/** Every page was in order, in a sweep to the end of the list that began at `now` (UNIX seconds). */
export function verifyOrder(memory: ListMemory, now: number): void {
  const { orderRefutedAt: _before, ...traits } = memory.traits
  memory.traits = { ...traits, orderVerifiedAt: now }
}

/** The list is not in the believed order: for a day every poll reads it to its end. */
export function refuteOrder(memory: ListMemory, now: number): void {
  memory.order = NO_EVIDENCE
  const { orderVerifiedAt: _before, ...traits } = memory.traits
  memory.traits = { ...traits, orderRefutedAt: now }
}

/** Records a complete sweep. */
export function completeSweep(
  memory: ListMemory,
  clock: Clock,
  { startedAt, pagesRead }: Pick<Sweep, 'startedAt' | 'pagesRead'>,
): void {
  memory.background = undefined
  memory.foreground = undefined
  memory.unexplainedPolls = 0
  memory.isBehind = false
  memory.sweepPages = pagesRead
  memory.sweepSeconds = clock.monotonic() - startedAt
  memory.sweptAt = startedAt
}
