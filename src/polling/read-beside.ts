import type { CallPage } from '../service/calls-client.ts'
import { endSweep, endWhole } from './end-sweep.ts'
import type { Increment } from './increment.ts'
import { isOrderVerified } from '../ledger/list-facts.ts'
import type { PageReader } from './page-reader.ts'
import { confirmTotal } from './read-increment.ts'
import { readPages } from './read-pages.ts'
import { newSweep } from './sweep.ts'

/** Less than an interval, so that the poll ends before the next one is due. */
const SHARE = 0.5

/**
 * Goes on with the sweep beside a successful poll. It ends at the horizon where the order was proven by a reading to the
 * end and the total leaves nothing that could be behind it; else at the end of the list. Nothing that fails here makes the
 * poll fail.
 */
export async function* readBeside(reader: PageReader, proven: Increment | undefined): AsyncGenerator<CallPage, void> {
  const { memory, begun, order, slice, interval } = reader
  memory.sweep ??= newSweep({
    order: order(),
    lastPage: proven?.lastPage,
    startedAt: begun,
  })
  const sweep = memory.sweep
  const before = sweep.done
  for (let isResumed = true; ; isResumed = false) {
    const limits = { most: Math.max(1, slice - (sweep.done - before)), longest: interval * SHARE, isResumed }
    const reading = yield* readPages(reader, sweep, limits)
    if (reading.kind === 'cut') return
    if (reading.kind !== 'past') {
      if (yield* endSweep(reader, sweep, reading)) return
    } else if (isOrderVerified(memory.facts) && (yield* confirmTotal(reader))) {
      endWhole(reader, sweep, reader.poll.end?.list)
      return
    } else sweep.toEnd = true
    if (sweep.done - before >= slice) return
  }
}
