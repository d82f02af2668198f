import type { ListKnowledge } from '../ledger/state.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import {
  advanceIncrement,
  assumeLeft,
  farEnd,
  newIncrement,
  takeFarEnd,
  type Increment,
  type IncrementProgress,
} from './increment.ts'
import { concludeSweep, refuteOrder } from './list-memory.ts'
import type { PageReader } from './page-reader.ts'
import { addToSweep } from './sweep.ts'
import { findCap } from './total-cap.ts'

/** Less than an interval: a cycle that misses the next tick waits for the one after it. */
const SHARE = 0.9

/**
 * Reads the newest calls; returns what was read if that proves that nothing else is new. Where the total is explained
 * neither by new calls nor by those that left, the poll is not successful: the next one asks the same, then the far end.
 */
export async function* readIncrement(
  reader: PageReader,
  known: ListKnowledge,
): AsyncGenerator<CallPage, Increment | undefined> {
  const { poll, memory, state, clock, begun, interval, pageSize, read } = reader
  const { passed = () => clock.monotonic() - begun } = reader
  memory.pageSize = Math.max(memory.pageSize, Math.min(known.pageSize, pageSize))
  // What was resumed from the history was in the list, and is no news.
  const { lastComplete = -Infinity } = state.sync
  for (const id of memory.fresh)
    if ((state.calls.get(id)?.firstSeen ?? Infinity) < lastComplete) memory.fresh.delete(id)
  const increment = newIncrement(known, pageSize, memory.unexplained > 0)
  let first: CallPage | undefined
  for (;;) {
    const page = yield* read(increment.page)
    first ??= page
    for (const sweep of [memory.main, memory.sweep]) if (sweep) addToSweep(sweep, page)
    if (page.total === undefined || reader.order() !== known.order) return undefined
    let progress = advanceIncrement(increment, page, memory.fresh)
    if (progress === 'far end') progress = yield* askFarEnd(reader, increment)
    // Of a list that is oldest first new calls would be behind a total that has stopped counting.
    const isFresh = (id: string) => memory.fresh.has(id)
    if (known.order === 'oldest first' && progress !== 'on' && (yield* findCap(reader, page, isFresh))) return undefined
    if (progress === 'unexplained') {
      memory.unexplained += 1
      poll.problem = new ServiceError('invalid', unexplainedBecause(increment, memory.fresh.size))
      return undefined
    }
    if (progress === 'on') {
      // Its next page is for the reading that goes on from one poll to the next.
      if (passed() < interval * SHARE) continue
      memory.isBehind = true
      return undefined
    }
    if (increment.isMisplaced) {
      refuteOrder(memory, poll.now)
      return undefined
    }
    memory.fresh.clear()
    memory.unexplained = 0
    const { total, end } = increment
    const complete = increment.seen.size + increment.unusable >= total
    if (complete) concludeSweep(memory, clock, { startedAt: begun, done: poll.pages })
    poll.oldest = increment.oldest
    poll.end = {
      complete,
      began: first.now,
      hostBegan: first.host,
      now: poll.now,
      host: poll.host,
      listed: increment.seen,
      list: {
        order: known.order,
        total,
        verified: complete || (known.verified && !increment.isAssumed && !increment.isExcused),
        end,
        pageSize: memory.pageSize,
      },
    }
    return increment
  }
}

/**
 * Makes sure at the end of a sweep that the total is still explained, with the far end read: what left there may hide
 * what came in unseen. Calls may come in between two requests: then the newest page is read again.
 */
export async function* confirmTotal(reader: PageReader): AsyncGenerator<CallPage, boolean> {
  const { poll, memory, pageSize, read } = reader
  const known = poll.end?.list
  if (poll.end === undefined || known === undefined || !known.verified) return false
  const increment = newIncrement(known, pageSize, true)
  for (let tries = 0; tries < 3; tries++) {
    const progress = yield* askFarEnd(reader, increment)
    if (progress === 'proven' && !increment.isMisplaced && !increment.isAssumed && !increment.isExcused) {
      memory.fresh.clear()
      poll.end = { ...poll.end, list: { ...known, total: increment.total, end: increment.end } }
      return true
    }
    if (increment.isMisplaced) refuteOrder(memory, poll.now)
    if (progress === 'proven') return !increment.isMisplaced && !increment.isExcused
    increment.page = known.order === 'newest first' ? 1 : increment.lastPage
    advanceIncrement(increment, yield* read(increment.page), memory.fresh)
  }
  return false
}

/** One that cannot be read never makes a poll fail, and is asked for again once a sweep interval. */
async function* askFarEnd(reader: PageReader, increment: Increment): AsyncGenerator<CallPage, IncrementProgress> {
  const { memory, clock, sweepInterval, read } = reader
  const isKnownUnreadable = clock.monotonic() - (memory.endUnreadableAt ?? -Infinity) < sweepInterval
  if (isKnownUnreadable) return assumeLeft(increment, memory.fresh)
  try {
    const progress = takeFarEnd(increment, yield* read(farEnd(increment), true), memory.fresh)
    memory.endUnreadableAt = undefined
    return progress
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    memory.endUnreadableAt = clock.monotonic()
    return assumeLeft(increment, memory.fresh)
  }
}

function unexplainedBecause({ known, total }: Increment, fresh: number): string {
  const expected = known.total + fresh
  return `the service lists ${total} calls where ${expected} were expected: it will be asked again before the whole list is read`
}
