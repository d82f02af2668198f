import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import type { Increment } from './increment.ts'
import type { PageReader } from './page-reader.ts'

/** A page spares a request for each wanted call on it, and costs one. */
const WORTH = 2

/**
 * Reads on from where an increment ended, for as long as the next page probably shows more calls that would be asked for
 * one by one than reading it costs.
 */
export async function* readOn(
  { state, wanted, read, look, slice }: PageReader,
  { known, last, lastPage }: Increment,
): AsyncGenerator<CallPage, void> {
  const direction = known.order === 'newest first' ? 1 : -1
  let page = last
  let missing = wanted()
  for (let pages = 0; page !== undefined && pages < slice; pages++) {
    const number = page.page + direction
    if (number < 1 || number > lastPage || expectedNext(page, missing) < WORTH) return
    page = yield* read(number)
    missing = missing.filter(({ id }) => !look.listed.has(id))
  }
}

/**
 * How many of these calls the next page probably shows: as many as began in as long a time before this page as it spans.
 */
function expectedNext({ calls }: CallPage, missing: readonly TrackedCall[]): number {
  const times = calls.flatMap(({ initiatedAt, startedAt, endedAt }) => initiatedAt ?? startedAt ?? endedAt ?? [])
  const [newest, oldest] = [Math.max(...times), Math.min(...times)]
  return missing.filter((call) => beganAt(call) <= oldest && beganAt(call) >= oldest - (newest - oldest)).length
}
