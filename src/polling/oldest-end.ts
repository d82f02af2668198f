import type { ListSnapshot } from '../ledger/state.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import type { ListPage, PollContext } from './poll-context.ts'

/** Number of ids that are stored of the oldest end. */
const MAX_IDS = 100

/** The ids on a page at the oldest end, where the oldest calls are, from the outermost inwards. */
export function oldestEndIds({ calls }: Pick<ListPage, 'calls'>, order: ListSnapshot['order']): string[] {
  const ids = calls.map(({ id }) => id)
  return (order === 'newest first' ? ids.toReversed() : ids).slice(0, MAX_IDS)
}

/** Reads the page at the oldest end. If that fails, the poll continues without it, and no poll retries for a sweep interval. */
export async function* readOldestEnd(
  { memory, clock, sweepInterval, read }: PollContext,
  page: number,
): AsyncGenerator<CallPage, ListPage | undefined> {
  if (clock.monotonic() - (memory.oldestEndFailedAt ?? -Infinity) < sweepInterval) return undefined
  try {
    const last = yield* read(page, true)
    memory.oldestEndFailedAt = undefined
    return last
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    memory.oldestEndFailedAt = clock.monotonic()
    return undefined
  }
}
