import type { CallPage } from '../service/calls-client.ts'
import type { Increment } from './increment.ts'
import { ASKED_AGAIN } from './list-memory.ts'
import { pageReader, type ListOptions } from './page-reader.ts'
import type { Poll } from './poll.ts'
import { readBeside } from './read-beside.ts'
import { readIncrement } from './read-increment.ts'
import { readMain } from './read-main.ts'
import { readOn } from './read-on.ts'

/**
 * Reads as much of the list as this poll needs, page by page: first the newest calls, where an earlier poll knows what
 * to expect; then those pages that spare more requests than they cost. Where nothing proves that this is all that is new,
 * the list is read back to the horizon, or to its end; where it does, a sweep continues beside it when one is due.
 *
 * @throws {ServiceError} when a page cannot be read
 */
export async function* readList(poll: Poll, options: ListOptions): AsyncGenerator<CallPage, void> {
  const { memory, state, clock, sweepInterval } = options
  const { list } = state.sync
  const reader = pageReader(poll, options)
  let proven: Increment | undefined
  if (list !== undefined && reader.order() === list.order && !memory.isBehind) {
    const before = memory.unexplained
    proven = yield* readIncrement(reader, list)
    // Only a total can be asked again what it means: where there is none any more, nothing but the whole list tells.
    const isUnexplained = memory.unexplained > before && memory.unexplained <= ASKED_AGAIN
    const isToAskAgain = isUnexplained && memory.main === undefined
    if (proven === undefined && isToAskAgain && reader.order() === list.order) return
    poll.problem = undefined
  }
  if (poll.end?.complete) return
  if (proven === undefined) yield* readMain(reader)
  else yield* readOn(reader, proven)
  if (poll.end === undefined || poll.end.complete) return
  const isDue = clock.monotonic() - (memory.sweptAt ?? -Infinity) >= sweepInterval - memory.sweepSeconds
  if (memory.sweep !== undefined || isDue) yield* readBeside(reader, proven)
}
