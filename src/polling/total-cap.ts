import type { CallPage } from '../service/calls-client.ts'
import type { ListMemory } from './list-memory.ts'
import type { ListPage, PageReader } from './page-reader.ts'

/** Whether the last page, by the total, is as long as any, or shorter than the total has it: the list may go on behind it. */
export function isOddAtEnd(
  { page, lastPage, items, total }: ListPage,
  { pageSize }: ListMemory,
  asked: number,
): boolean {
  if (page !== lastPage) return false
  // The service may show fewer calls in a page than were asked for: then pages before the last one tell how many.
  const isFull = items >= (lastPage === 1 ? asked : Math.min(pageSize, asked))
  return isFull || items < (total ?? 0) - (page - 1) * pageSize
}

/**
 * Some services stop counting at a round number. Where the last page was full, one more is asked for: items there mean
 * that the total says nothing. The same where it was too short: pages may have become shorter.
 *
 * @param isNew whether an item has not been seen yet: pages may overlap
 * @returns the page behind the total, if there is one
 */
export async function* findCap(
  { memory, read }: PageReader,
  { rows, lastPage }: ListPage,
  isNew: (key: string) => boolean,
): AsyncGenerator<CallPage, ListPage | undefined> {
  if (rows === undefined || lastPage === undefined || memory.oddAt !== rows) return undefined
  const behind = yield* read(lastPage + 1, true)
  const isMore = behind.keys.some(isNew)
  // Where it has grown, calls came in meanwhile.
  if (!isMore || (behind.rows ?? 0) > rows) return undefined
  memory.facts = behind.rows === rows ? { ...memory.facts, cap: rows } : { ...memory.facts, wrongTotalAt: behind.now }
  return behind
}
