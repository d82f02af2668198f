import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import type { Increment } from './increment.ts'
import type { PageReader } from './page-reader.ts'

/** A page spares a request for each wanted call on it, and costs one. */
const WORTH = 2

/**
 * Reads on from where an increment ended, for as long as the next page probably shows more calls that would be asked for
 * one by one than reading it costs.
 */
export async function* readOn(
  { memory, wanted, read, poll, slice }: PageReader,
  { known, last, lastPage }: Increment,
): AsyncGenerator<CallPage, void> {
  const direction = known.order === 'newest first' ? 1 : -1
  let page = last
  // Finished calls are asked for what a list has not shown of them, and would not show now.
  let missing = wanted().filter(({ phase }) => phase === 'open')
  for (let pages = 0; page !== undefined && pages < slice; pages++) {
    const number = page.page + direction
    if (number < 1 || number > lastPage || number >= (memory.refusedFrom ?? Infinity)) return
    if (expectedNext(page, missing) < WORTH) return
    try {
      page = yield* read(number)
    } catch (error) {
      // It was only to spare requests: the calls are asked for one by one then.
      if (error instanceof ServiceError) return
      throw error
    }
    missing = missing.filter(({ id }) => !poll.listed.has(id))
  }
}

/**
 * How many of these calls the next page probably shows: as many as began in as long a time before this page as it spans.
 */
function expectedNext({ calls }: CallPage, missing: readonly TrackedCall[]): number {
  const times = calls.flatMap(({ initiatedAt, startedAt, endedAt }) => initiatedAt ?? startedAt ?? endedAt ?? [])
  const oldest = times.reduce((least, time) => Math.min(least, time), Infinity)
  const newest = times.reduce((most, time) => Math.max(most, time), -Infinity)
  return missing.filter((call) => beganAt(call) <= oldest && beganAt(call) >= oldest - (newest - oldest)).length
}
