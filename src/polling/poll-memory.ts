import type { ListedCall } from '../ledger/observation.ts'
import { isEarlierRow } from '../ledger/delta/repeated-id.ts'
import type { LedgerState, SyncState } from '../ledger/state.ts'
import { finalStatus, type CallStatus } from '../ledger/call.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { UNKNOWN_SKEW, type ClockSkew } from './clock-skew.ts'
import type { RequestedAt } from './follow-ups.ts'
import { newListMemory, type ListMemory } from './list/list-state.ts'

/**
 * Listed rows that may be another call with the id of a tracked call, because they began earlier. If there are two such
 * calls, a sweep lists both. If a complete sweep lists only the earlier row, that row is the tracked call, and the service
 * has changed the call's times.
 */
type EarlierRows = {
  /**
   * Notes the calls of a page. Returns the ids of earlier rows that are the tracked calls themselves.
   *
   * @param now monotonic seconds
   * @param sweptAt when the last complete sweep began (monotonic seconds)
   */
  confirm: (calls: readonly ListedCall[], state: LedgerState, now: number, sweptAt: number | undefined) => Set<string>
}

export function earlierRows(): EarlierRows {
  /** For each id, since when only its earlier row was listed (monotonic seconds). */
  const alone = new Map<string, number>()
  return {
    confirm: (calls, { calls: tracked }, now, sweptAt = -Infinity) => {
      const confirmed = new Set<string>()
      for (const call of calls) {
        const known = 'phase' in call ? undefined : tracked.get(call.id)
        if (known === undefined || 'phase' in call || !isEarlierRow(known, call)) {
          if (alone.size > 0) alone.delete(call.id)
          continue
        }
        const since = alone.get(call.id)
        if (since === undefined) alone.set(call.id, now)
        else if (sweptAt > since) confirmed.add(call.id)
      }
      return confirmed
    },
  }
}

/** Final, or the status of an open call. */
type Standing = 'final' | CallStatus

type StatusRegressions = ReturnType<typeof statusRegressions>

/**
 * Calls that a list shows with an earlier status than before: open after a final status, or initiated after ongoing. That may
 * be true, or the answer may be outdated, such as a cached page or a server that lags behind. An undocumented status without
 * an end counts as open. callwatch accepts a regression if Get Call confirms it, or if two polls in a row list it and Get
 * Call did not answer.
 */
export function statusRegressions() {
  /** The ids of regressions that the previous poll listed, and that this poll listed. */
  let previous = new Set<string>()
  let current = new Set<string>()
  /** What the pages of this group showed last. The state does not have it yet. */
  const inChunk = new Map<string, Standing>()

  const isRegression = (call: ListedCall, state: LedgerState): boolean => {
    // Nearly every call is unchanged or final.
    if ('phase' in call || finalStatus(call) !== undefined) return false
    const before = inChunk.get(call.id) ?? standingOf(call.id, state)
    return before === 'final' || (before === 'ongoing' && call.status === 'initiated')
  }

  return {
    /** Call it when a poll starts. */
    startPoll: () => {
      previous = current
      current = new Set()
    },
    /** Call it after the pages of one commit. Before the next page, the state has these calls, or the poll has failed. */
    endChunk: () => inChunk.clear(),
    /** The calls of a page without regressions that are not accepted yet. */
    withhold: (calls: readonly ListedCall[], state: LedgerState) =>
      calls.filter((call) => {
        if (isRegression(call, state) && !previous.has(call.id)) {
          current.add(call.id)
          return false
        }
        if (!('phase' in call)) inChunk.set(call.id, finalStatus(call) === undefined ? call.status : 'final')
        return true
      }),
    /** The calls that this poll has withheld and that Get Call must confirm. */
    unconfirmed: (state: LedgerState): TrackedCall[] => [...current].flatMap((id) => state.calls.get(id) ?? []),
    /** Call it after an answer of Get Call. The next regression in a list is then a new one. */
    answered: (id: string) => void current.delete(id),
  }
}

/** Undefined for a call that is lost or not tracked: nothing that a list shows of it is a regression. */
function standingOf(id: string, state: LedgerState): Standing | undefined {
  const phase = state.calls.phase(id)
  if (phase === 'baseline') return 'final'
  if (phase === 'open') return state.open.get(id)?.status
  if (phase !== 'final') return undefined
  const call = state.calls.get(id)!
  // A final call keeps its end when it is open again. With an undocumented status, only `retainUntil` shows that it is.
  const isOpen = finalStatus(call) === undefined || (call.status === 'other' && call.retainUntil !== undefined)
  return isOpen ? call.status : 'final'
}

/** What the polls of a target remember from one poll to the next, besides what is committed. Changed in place. */
export type PollMemory = {
  list: ListMemory
  requestedAt: RequestedAt
  regressions: StatusRegressions
  earlierRows: EarlierRows
  clock: ClockSkew
}

/**
 * The memory of a target before its first poll.
 *
 * @param sweptAt when the last complete sweep began (monotonic seconds)
 */
export function newPollMemory(sync: SyncState, sweptAt: number | undefined): PollMemory {
  return {
    list: newListMemory(sync, sweptAt),
    requestedAt: new Map(),
    regressions: statusRegressions(),
    earlierRows: earlierRows(),
    clock: UNKNOWN_SKEW,
  }
}

/**
 * How many pages a running sweep has read. If the service says so, how many the list has, and how long the rest takes at this
 * pace.
 */
export type SweepProgress = { pagesRead: number; pages: number | undefined; secondsLeft?: number | undefined }

/**
 * The progress of the running sweep; undefined if none runs.
 *
 * @param now monotonic seconds
 */
export function sweepProgress({ list }: PollMemory, now: number): SweepProgress | undefined {
  const reading = list.catchUp ?? (list.sweep.state === 'running' ? list.sweep.reading : undefined)
  if (reading === undefined) return undefined
  const { read: pagesRead, last } = reading.pages
  // A sweep may read a page twice while the list moves.
  const pages = last && Math.max(pagesRead, last)
  const secondsLeft = pages && pagesRead && ((now - reading.startedAt) / pagesRead) * (pages - pagesRead)
  return { pagesRead, pages, secondsLeft: secondsLeft && Math.round(secondsLeft) }
}
