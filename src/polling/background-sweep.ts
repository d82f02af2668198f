import { isOrderVerified } from '../ledger/list-traits.ts'
import type { CallPage } from '../service/calls-client.ts'
import { endSuccessfully, endSweep } from './end-sweep.ts'
import type { IncrementalPoll } from './incremental-poll.ts'
import type { PollContext } from './poll-context.ts'
import { confirmTotal } from './read-newest-pages.ts'
import { readSlice } from './read-slice.ts'
import { newSweep } from './sweep.ts'

/** Part of the interval that reading may take, so that the poll ends before the next one is due. */
const MAX_INTERVAL_SHARE = 0.5

/**
 * Reads a slice of a sweep beside a successful poll. The sweep ends at the horizon if the order is verified and the total
 * leaves no call that could be after it; otherwise at the end of the list. An error here never fails the poll.
 */
export async function* sweepInBackground(
  context: PollContext,
  verified: IncrementalPoll | undefined,
): AsyncGenerator<CallPage, void> {
  const { memory, begun, order, slice: maxPages, interval } = context
  memory.background ??= newSweep({ order: order(), lastPage: verified?.lastPage, startedAt: begun })
  const sweep = memory.background
  const before = sweep.pagesRead
  for (let isResumed = true; ; isResumed = false) {
    const slice = yield* readSlice(context, sweep, {
      maxPages: Math.max(1, maxPages - (sweep.pagesRead - before)),
      maxSeconds: interval * MAX_INTERVAL_SHARE,
      isResumed,
    })
    if (slice.result === 'interrupted') return
    if (slice.result !== 'horizon') {
      if (yield* endSweep(context, sweep, slice)) return
    } else if (isOrderVerified(memory.traits) && (yield* confirmTotal(context))) {
      endSuccessfully(context, sweep, context.poll.success?.list)
      return
    } else sweep.mustReachEnd = true
    if (sweep.pagesRead - before >= maxPages) return
  }
}
