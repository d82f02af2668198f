import { isOrderVerifiedRecently } from '../ledger/list-traits.ts'
import type { CallPage } from '../service/calls-client.ts'
import { endSuccessfully, endSweep, listAfter, sweepTimes } from './end-sweep.ts'
import type { PollContext } from './poll-context.ts'
import { readSlice } from './read-slice.ts'
import { listedIds, newSweep, type Sweep } from './sweep.ts'

/** Part of the interval that reading may take: a poll that misses the next tick waits for the one after it. */
const MAX_INTERVAL_SHARE = 0.9
/** The same while there are more new calls than a poll can read: the next polls have nothing else to do. */
const MAX_INTERVAL_SHARE_BEHIND = 2

/**
 * Sweeps the list if nothing else verifies that a poll has missed no call: back to the horizon if the list is in order, to
 * its end if not; over several polls if it is long. The first poll of a list is successful at the horizon, and a background
 * sweep reads the rest beside the next polls: only then is the order verified.
 */
export async function* sweepInForeground(context: PollContext): AsyncGenerator<CallPage, void> {
  const { memory, begun, interval, reach } = context
  memory.foreground ??= newSweep({ order: context.order(), lastPage: undefined, startedAt: begun })
  const sweep = memory.foreground
  // If the total is unexplained, there are other new calls, which may be anywhere.
  sweep.mustReachEnd ||= memory.unexplainedPolls > 0 || memory.isBehind || reach === 'end'
  for (let isResumed = true; ; isResumed = false) {
    const slice = yield* readSlice(context, sweep, {
      maxPages: Infinity,
      maxSeconds: interval * (memory.isBehind ? MAX_INTERVAL_SHARE_BEHIND : MAX_INTERVAL_SHARE),
      isResumed,
    })
    if (slice.result === 'interrupted') return
    if (slice.result === 'horizon') {
      yield* endAtHorizon(context, sweep)
      return
    }
    if (yield* endSweep(context, sweep, slice)) return
  }
}

async function* endAtHorizon(context: PollContext, sweep: Sweep): AsyncGenerator<CallPage, void> {
  const { poll, memory, horizon, reach } = context
  const isVerified =
    sweep.total === undefined && isOrderVerifiedRecently(memory.traits, { now: poll.serviceTime, horizon })
  if (reach === 'horizon' || isVerified) {
    endSuccessfully(context, sweep, undefined)
    return
  }
  const list = yield* listAfter(context, sweep, undefined)
  poll.oldest = sweep.oldest
  poll.invalidKeys = sweep.invalidKeys
  poll.success = { ...sweepTimes(context, sweep), movesHorizon: false, listed: listedIds(sweep), list }
  sweep.mustReachEnd = true
  memory.background ??= sweep
  memory.foreground = undefined
}
