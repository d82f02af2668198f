import type { CallPage } from '../service/calls-client.ts'
import { endSweep, endWhole, listAfter, timesOf } from './end-sweep.ts'
import { isOrderVerifiedRecently } from '../ledger/list-facts.ts'
import type { PageReader } from './page-reader.ts'
import { readPages } from './read-pages.ts'
import { listedIn, newSweep, type Sweep } from './sweep.ts'

/** Less than an interval: a cycle that misses the next tick waits for the one after it. */
const SHARE = 0.9
/** With more new calls than a poll can read, each poll reads for longer: the next ones have nothing else to do. */
const SHARE_BEHIND = 2

/**
 * Reads the list where nothing else proves that a poll has missed nothing: back to the horizon if the list is in order, to
 * its end if not; over several polls where it is long. At the horizon the first poll of a list is successful, and what lies
 * behind is read beside the next ones: only then is the order proven.
 */
export async function* readMain(reader: PageReader): AsyncGenerator<CallPage, void> {
  const { memory, begun, interval, reach } = reader
  memory.main ??= newSweep({
    order: reader.order(),
    lastPage: undefined,
    startedAt: begun,
  })
  const sweep = memory.main
  // A total that new calls do not explain says that there are others: they may be anywhere.
  sweep.toEnd ||= memory.unexplained > 0 || memory.isBehind || reach === 'end'
  for (let isResumed = true; ; isResumed = false) {
    const reading = yield* readPages(reader, sweep, {
      most: Infinity,
      longest: interval * (memory.isBehind ? SHARE_BEHIND : SHARE),
      isResumed,
    })
    if (reading.kind === 'cut') return
    if (reading.kind === 'past') {
      yield* endAtHorizon(reader, sweep)
      return
    }
    if (yield* endSweep(reader, sweep, reading)) return
  }
}

async function* endAtHorizon(reader: PageReader, sweep: Sweep): AsyncGenerator<CallPage, void> {
  const { poll, memory, horizon, reach } = reader
  const isProven = sweep.total === undefined && isOrderVerifiedRecently(memory.facts, { now: poll.now, horizon })
  if (reach === 'horizon' || isProven) {
    endWhole(reader, sweep, undefined)
    return
  }
  const list = yield* listAfter(reader, sweep, undefined)
  poll.oldest = sweep.oldest
  poll.end = { ...timesOf(reader, sweep), complete: false, listed: listedIn(sweep), list }
  sweep.toEnd = true
  memory.sweep ??= sweep
  memory.main = undefined
}
