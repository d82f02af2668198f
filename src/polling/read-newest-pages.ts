import type { ListSnapshot } from '../ledger/state.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { readOldestEnd } from './oldest-end.ts'
import {
  addOldestEndPage,
  addNewestPage,
  assumeLeft,
  oldestEndPage,
  newIncrementalPoll,
  type IncrementalPoll,
  type Verification,
} from './incremental-poll.ts'
import { completeSweep, refuteOrder } from './list-memory.ts'
import type { PollContext } from './poll-context.ts'
import { addToSweep } from './sweep.ts'
import { findCap } from './total-cap.ts'

/** Part of the interval that reading may take: a poll that misses the next tick waits for the one after it. */
const MAX_INTERVAL_SHARE = 0.9

/**
 * Reads the newest pages until the total verifies that nothing else is new, and returns what was read. If neither new calls
 * nor those that left explain the total, the poll is not successful: the next one requests the same again, then the oldest end.
 */
export async function* readNewestPages(
  context: PollContext,
  snapshot: ListSnapshot,
): AsyncGenerator<CallPage, IncrementalPoll | undefined> {
  const { poll, memory, state, clock, begun, interval, pageSize, read } = context
  const { elapsed = () => clock.monotonic() - begun } = context
  memory.pageSize = Math.max(memory.pageSize, Math.min(snapshot.pageSize, pageSize))
  // A call that was tracked again from the history was in the list before, and is not new.
  const { lastSweepBegan = -Infinity } = state.sync
  for (const id of memory.newIds)
    if ((state.calls.get(id)?.firstSeen ?? Infinity) < lastSweepBegan) memory.newIds.delete(id)
  const incremental = newIncrementalPoll(snapshot, pageSize, memory.unexplainedPolls > 0)
  let first: CallPage | undefined
  for (;;) {
    const page = yield* read(incremental.page)
    first ??= page
    for (const sweep of [memory.foreground, memory.background]) if (sweep) addToSweep(sweep, page)
    if (page.total === undefined || context.order() !== snapshot.order) return undefined
    let verification = addNewestPage(incremental, page, memory.newIds)
    if (verification === 'oldest end') verification = yield* verifyWithOldestEnd(context, incremental)
    // On a list that is oldest first, new calls are beyond a total that stops at a cap.
    const isNew = (id: string) => memory.newIds.has(id)
    if (snapshot.order === 'oldest first' && verification !== 'next page' && (yield* findCap(context, page, isNew)))
      return undefined
    if (verification === 'unexplained') {
      memory.unexplainedPolls += 1
      poll.problem = new ServiceError('invalid', unexplainedTotal(incremental, memory.newIds.size))
      return undefined
    }
    if (verification === 'next page') {
      // If the time is up, the foreground sweep reads the other pages, over several polls.
      if (elapsed() < interval * MAX_INTERVAL_SHARE) continue
      memory.isBehind = true
      return undefined
    }
    if (incremental.isMisplaced) {
      refuteOrder(memory, poll.serviceTime)
      return undefined
    }
    memory.newIds.clear()
    memory.unexplainedPolls = 0
    const { total, oldestIds } = incremental
    const movesHorizon = incremental.seen.size + incremental.invalidItems >= total
    if (movesHorizon) completeSweep(memory, clock, { startedAt: begun, pagesRead: poll.pages })
    poll.oldest = incremental.oldest
    poll.success = {
      movesHorizon,
      beganServiceTime: first.serviceTime,
      beganHostTime: first.hostTime,
      serviceTime: poll.serviceTime,
      hostTime: poll.hostTime,
      listed: incremental.seen,
      hasInvalid: incremental.invalidItems > 0,
      list: {
        order: snapshot.order,
        total,
        verified: movesHorizon || (snapshot.verified && !incremental.isAssumed && !incremental.reliesOnInvalid),
        oldestIds,
        pageSize: memory.pageSize,
      },
    }
    return incremental
  }
}

/**
 * Verifies the total once more at the end of a sweep, with the oldest end: calls that left there may hide new ones that were
 * not seen. If calls are added between two requests, the newest page is read again.
 */
export async function* confirmTotal(context: PollContext): AsyncGenerator<CallPage, boolean> {
  const { poll, memory, pageSize, read } = context
  const snapshot = poll.success?.list
  if (poll.success === undefined || snapshot === undefined || !snapshot.verified) return false
  const incremental = newIncrementalPoll(snapshot, pageSize, true)
  for (let tries = 0; tries < 3; tries++) {
    const verification = yield* verifyWithOldestEnd(context, incremental)
    if (
      verification === 'verified' &&
      !incremental.isMisplaced &&
      !incremental.isAssumed &&
      !incremental.reliesOnInvalid
    ) {
      memory.newIds.clear()
      poll.success = {
        ...poll.success,
        list: { ...snapshot, total: incremental.total, oldestIds: incremental.oldestIds },
      }
      return true
    }
    if (incremental.isMisplaced) refuteOrder(memory, poll.serviceTime)
    if (verification === 'verified') return !incremental.isMisplaced && !incremental.reliesOnInvalid
    incremental.page = snapshot.order === 'newest first' ? 1 : incremental.lastPage
    addNewestPage(incremental, yield* read(incremental.page), memory.newIds)
  }
  return false
}

async function* verifyWithOldestEnd(
  context: PollContext,
  incremental: IncrementalPoll,
): AsyncGenerator<CallPage, Verification> {
  const { newIds } = context.memory
  const page = yield* readOldestEnd(context, oldestEndPage(incremental))
  return page === undefined ? assumeLeft(incremental, newIds) : addOldestEndPage(incremental, page, newIds)
}

function unexplainedTotal({ snapshot, total }: IncrementalPoll, newCalls: number): string {
  const expected = snapshot.total + newCalls
  return `the service lists ${total} calls where ${expected} were expected: it will be asked again before the whole list is read`
}
