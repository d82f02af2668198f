import { provenOrder } from './list-order.ts'
import type { CallPage } from '../service/calls-client.ts'
import type { Increment } from './increment.ts'
import { pageReader, type Look, type LookOptions } from './page-reader.ts'
import { readIncrement } from './read-increment.ts'
import { readOn } from './read-on.ts'
import { readSlice } from './read-slice.ts'

export function newLook(): Look {
  return { now: 0, host: 0, pages: 0, listed: new Set(), end: undefined, limited: false, problem: undefined }
}

/**
 * Reads as much of the list as this look needs, page by page: first the newest calls, where an earlier look knows what
 * to expect; then those pages that spare more requests than they cost; then, where a whole look is due or nothing else
 * proves anything, a slice of a sweep.
 *
 * @throws {ServiceError} when a page cannot be read
 */
export async function* readList(look: Look, options: LookOptions): AsyncGenerator<CallPage, void> {
  const { memory, state, clock, sweepInterval } = options
  const { list } = state.facts
  const reader = pageReader(look, options)
  let proven: Increment | undefined
  if (list !== undefined && provenOrder(memory.order) === list.order) proven = yield* readIncrement(reader, list)
  if (look.end?.whole) return
  const isDue = clock.monotonic() - (memory.sweptAt ?? -Infinity) >= sweepInterval - memory.sweepSeconds
  if (proven !== undefined) yield* readOn(reader, proven)
  if (proven === undefined || memory.sweep !== undefined || isDue) yield* readSlice(reader, proven)
}
