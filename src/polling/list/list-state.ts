import type { KnownList } from '../../ledger/known-list.ts'
import type { SyncState } from '../../ledger/state.ts'
import { EVIDENCE_OF, NO_EVIDENCE, type OrderEvidence } from './list-order.ts'
import type { ReadingEnd } from './read-pages.ts'
import type { Reading } from './reading.ts'

/**
 * What the polls of a target know about its list, as independent states; `pages` is what the latest pages showed.
 *
 * - `list`: *unknown* → *joined*, once a reading has ended → *unordered*, if calls come in far from the end at which calls come
 *   in → *joined*, a day after the last one did. Committed with what the poll counted; all else is of this process.
 * - `catchUp`: *none* → *running*, at the start of each poll → *none*, where it joins what was known, or ends
 * - `sweep`: *idle* → *running*, once it is due → *read*, at the horizon or the end of the list → *idle*, by the next successful poll,
 *   or where it is lost
 * - `depth`: *whole* → *refused*, if a page fails again and again → *whole*, once the service shows it
 * - `total`: *watched* → *tripped*, if it grows more than the list → *checked*, by a sweep → *watched*
 * - `shrunk`: *none* → *since*, if most calls are missing → *none*, once the list is whole again, or Get Call did not know them either
 *
 * Changed in place.
 */
export type ListMemory = {
  list?: KnownList | undefined
  /**
   * A reading that must end before a poll can be successful. Undefined between polls, unless the reading takes several polls.
   */
  catchUp?: Reading | undefined
  /** The sweep: a reading that continues over successful polls. */
  sweep: Sweep
  /** The first page that the service refuses to show. And the page that failed last, with the number of polls in a row. */
  depth: { refusedFrom?: number | undefined; failing?: { page: number; polls: number } | undefined }
  total: Tripwire
  /**
   * The order that the latest pages showed. The number of items on a page that another page follows, and whether that number
   * varies. And the last page of a list that grows at its end.
   */
  pages: { evidence: OrderEvidence; size?: number; areUneven: boolean; last?: number | undefined }
  /**
   * A list that has shrunk and is not accepted yet: in how many polls Get Call did not know the missing calls, and since when
   * (monotonic seconds).
   */
  shrunk: { polls: number; since?: number | undefined }
}

/**
 * `last` is the last sweep that a successful poll completed: when it began (monotonic seconds), how long it took, and how
 * many pages it read.
 */
export type Sweep = { last?: { at: number; seconds: number; pages: number } | undefined } & (
  | { state: 'idle' }
  | { state: 'running'; reading: Reading }
  /** The next successful poll completes it. */
  | { state: 'read'; reading: Reading; at: ReadingEnd['at'] }
)

/**
 * Watches whether the service's total grows by more than the rows that appeared since the last sweep. If it does, calls
 * appeared elsewhere.
 */
export type Tripwire = {
  state: 'watched' | 'tripped' | 'checked'
  /** The total after the last sweep, and how many rows have appeared since then. */
  base?: number | undefined
  cameIn: number
  /** After a sweep that found nothing, it does not trip until this time (monotonic seconds). */
  ignoredUntil: number
}

/** @param sweptAt when the last complete sweep began (monotonic seconds) */
export function newListMemory({ list }: Pick<SyncState, 'list'>, sweptAt: number | undefined): ListMemory {
  return {
    list,
    sweep: { state: 'idle', last: sweptAt === undefined ? undefined : { at: sweptAt, seconds: 0, pages: 0 } },
    depth: {},
    total: { state: 'watched', cameIn: 0, ignoredUntil: -Infinity },
    pages: { evidence: list === undefined ? NO_EVIDENCE : EVIDENCE_OF[list.end], areUneven: false },
    shrunk: { polls: 0 },
  }
}

/** Call it if what was read was not counted. The next poll reads it again, starting from what was committed. */
export function forgetReadings(memory: ListMemory, { list }: Pick<SyncState, 'list'>): void {
  memory.list = list
  memory.catchUp = undefined
  memory.sweep = { state: 'idle' }
}

/** How long the total is ignored after a sweep that found nothing (seconds), because it counts something else. */
const IGNORED_SECONDS = 86_400

/**
 * Notes the total of a poll that joined.
 *
 * @param cameIn how many rows have appeared since the last poll
 * @param now monotonic seconds
 */
export function noteTotal(tripwire: Tripwire, total: number | undefined, cameIn: number, now: number): void {
  tripwire.cameIn += cameIn
  if (tripwire.base === undefined) Object.assign(tripwire, { base: total, cameIn: 0 })
  if (tripwire.state !== 'watched' || total === undefined || now < tripwire.ignoredUntil) return
  if (total - (tripwire.base ?? total) > tripwire.cameIn) tripwire.state = 'tripped'
}

/** Call it after a sweep. @param now monotonic seconds */
export function resetTripwire(tripwire: Tripwire, hasFound: boolean, now: number): void {
  if (tripwire.state === 'checked' && !hasFound) tripwire.ignoredUntil = now + IGNORED_SECONDS
  Object.assign(tripwire, { base: undefined, cameIn: 0 })
  if (tripwire.state === 'checked') tripwire.state = 'watched'
}
