import { beganAt, type TrackedCall } from '../../ledger/tracked-call.ts'
import type { CallPage } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import { ownStart } from './list-order.ts'
import type { PollContext } from '../poll-context.ts'
import { inwards, type Reading } from './reading.ts'

/** Reading a page costs one request and saves one for each wanted call on it, so it must show at least this many. */
const MIN_CALLS = 2

/**
 * Reads on from where a poll has joined, while the next page probably shows more open calls than reading it costs requests.
 * Those calls need no follow-up.
 */
export async function* readOpenCalls(
  { memory, callsToRequest, read, poll, slice }: PollContext,
  reading: Reading,
): AsyncGenerator<CallPage, void> {
  let page = poll.lastPage
  // Final calls are requested for participants, which a list does not show.
  let missing = callsToRequest().filter(({ phase }) => phase === 'open')
  for (let pages = 0; page !== undefined && pages < slice; pages++) {
    const number = page.page + inwards(reading)
    if (number < 1 || number >= (memory.depth.refusedFrom ?? Infinity)) return
    if (expectedOnNextPage(page, missing) < MIN_CALLS) return
    try {
      page = yield* read(number)
    } catch (error) {
      // Follow-ups request these calls instead.
      if (error instanceof ServiceError) return
      throw error
    }
    missing = missing.filter(({ id }) => !poll.listed.has(id))
  }
}

/**
 * How many of the calls are probably on the next page: those that began before this page, within the time span that this page
 * covers.
 */
function expectedOnNextPage({ calls }: CallPage, missing: readonly TrackedCall[]): number {
  const times = calls.flatMap((call) => ownStart(call) ?? [])
  const oldest = times.reduce((least, time) => Math.min(least, time), Infinity)
  const newest = times.reduce((most, time) => Math.max(most, time), -Infinity)
  return missing.filter((call) => beganAt(call) <= oldest && beganAt(call) >= oldest - (newest - oldest)).length
}
