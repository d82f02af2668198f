import type { CallPage } from '../service/calls-client.ts'
import type { ListMemory } from './list-memory.ts'
import type { ListPage, PollContext } from './poll-context.ts'

/** Whether the last page, by the total, is full, or shorter than the total says: the list may continue after it. */
export function isLastPageSuspicious(
  { page, lastPage, items, total }: ListPage,
  { pageSize }: ListMemory,
  requested: number,
): boolean {
  if (page !== lastPage) return false
  // A service may show fewer calls on a page than were requested; the pages before the last one show how many.
  const isFull = items >= (lastPage === 1 ? requested : Math.min(pageSize, requested))
  return isFull || items < (total ?? 0) - (page - 1) * pageSize
}

/**
 * Finds out whether the list continues after its total, because the service stops counting at a round number (a cap) or
 * its pages have become shorter. If the last page was suspicious, this requests one more.
 *
 * @param isNew whether an item has not been seen yet, because pages may overlap
 * @returns the page after the total, if there is one
 */
export async function* findCap(
  { memory, read }: PollContext,
  { rawTotal, lastPage }: ListPage,
  isNew: (key: string) => boolean,
): AsyncGenerator<CallPage, ListPage | undefined> {
  if (rawTotal === undefined || lastPage === undefined || memory.suspectTotal !== rawTotal) return undefined
  const next = yield* read(lastPage + 1, true)
  const hasNew = next.keys.some(isNew)
  // A larger total means that calls were added meanwhile.
  if (!hasNew || (next.rawTotal ?? 0) > rawTotal) return undefined
  const isCap = next.rawTotal === rawTotal
  memory.traits = { ...memory.traits, ...(isCap ? { cap: rawTotal } : { wrongTotalAt: next.serviceTime }) }
  return next
}
