import type { CallPage } from '../service/calls-client.ts'
import { sweepInBackground } from './background-sweep.ts'
import { sweepInForeground } from './foreground-sweep.ts'
import type { IncrementalPoll } from './incremental-poll.ts'
import { UNEXPLAINED_POLLS } from './list-memory.ts'
import { newPollContext, type PollContextOptions } from './poll-context.ts'
import type { RunningPoll } from './poll.ts'
import { readNewestPages } from './read-newest-pages.ts'
import { readOpenCalls } from './read-open-calls.ts'

/** A sweep is postponed for so many intervals at most, though others use the service's limit. */
const POSTPONED_INTERVALS = 4

/**
 * Reads as much of the list as this poll needs, page by page:
 *
 * 1. the newest pages, if an earlier poll knows the list; if the total verifies them, then the next pages as long as they
 *    show open calls, and a slice of a background sweep if one is due
 * 2. otherwise a foreground sweep, back to the horizon or to the end of the list
 *
 * @throws {ServiceError} if a page cannot be read
 */
export async function* readList(poll: RunningPoll, options: PollContextOptions): AsyncGenerator<CallPage, void> {
  const { memory, state } = options
  const { list } = state.sync
  const context = newPollContext(poll, options)
  let verified: IncrementalPoll | undefined
  if (list !== undefined && context.order() === list.order && !memory.isBehind) {
    const before = memory.unexplainedPolls
    verified = yield* readNewestPages(context, list)
    // Only an unexplained total is worth another try: without a total, or in another order, a sweep must follow.
    const isUnexplained = memory.unexplainedPolls > before && memory.unexplainedPolls <= UNEXPLAINED_POLLS
    const isRetried = isUnexplained && memory.foreground === undefined
    if (verified === undefined && isRetried && context.order() === list.order) return
    poll.problem = undefined
  }
  if (poll.success?.movesHorizon) return
  if (verified === undefined) yield* sweepInForeground(context)
  else yield* readOpenCalls(context, verified)
  if (poll.success === undefined || poll.success.movesHorizon) return
  if (isSweepDue(options)) yield* sweepInBackground(context, verified)
}

/** Whether a slice of a sweep is read beside this poll. */
function isSweepDue({ memory, clock, sweepInterval, maySweep }: PollContextOptions): boolean {
  const age = clock.monotonic() - (memory.sweptAt ?? -Infinity)
  if (memory.background === undefined && age < sweepInterval - memory.sweepSeconds) return false
  return maySweep() || age >= POSTPONED_INTERVALS * sweepInterval
}
