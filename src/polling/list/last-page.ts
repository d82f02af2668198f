import type { CallPage } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import { isClientError, type PollContext } from '../poll-context.ts'
import { refusedFrom } from '../poll-problems.ts'
import { lastPageBy, type Reading } from './reading.ts'

/** Where the last page may be: it is the last one so far that has calls, or after it, and before one that has none, or cannot be read. */
type Search = {
  last: CallPage | undefined
  pastLast: number
  failure: ServiceError | undefined
  /** How many pages to go on, and the last page as the service says. */
  stride: number
  hint: number | undefined
}

/**
 * Finds and reads the last page of a list that grows there: the one that was last before, or what the service says, and from there
 * by doubling and halving. A short page with known rows is the last one, but for a sweep, which makes sure.
 *
 * @throws {ServiceError} if a page cannot be read that the list has
 */
export async function* findLastPage(context: PollContext, reading: Reading): AsyncGenerator<CallPage, CallPage> {
  const { pages } = context.memory
  const search: Search = { last: undefined, pastLast: Infinity, failure: undefined, stride: 1, hint: undefined }
  for (let number = pages.last ?? 1; ; number = nextNumber(search, pages.size)) {
    const page = yield* readOrFail(context, search, number)
    if (page !== undefined && isPastLast(page, search)) search.pastLast = number
    else if (page !== undefined) search.last = page
    const { last } = search
    if (last === undefined && page !== undefined && number === 1) return page
    if (last !== undefined && (search.pastLast === last.page + 1 || isShort(context, reading, last)))
      return found(context, search, last)
  }
}

function found(context: PollContext, { pastLast, failure }: Search, last: CallPage): CallPage {
  if (failure !== undefined && hasMore(context, last)) throw refusedFrom(pastLast, failure)
  context.memory.pages.last = last.page
  return last
}

function nextNumber(search: Search, size: number | undefined): number {
  const { last, pastLast } = search
  if (last === undefined || pastLast !== Infinity) return Math.floor(((last?.page ?? 0) + pastLast) / 2)
  search.hint ??= lastPageBy(last, size ?? last.items) ?? 0
  if (search.hint > last.page) return search.hint
  // After a page that is not full there is hardly another one.
  const stride = last.items < (size ?? 0) ? 1 : search.stride
  search.stride = stride * 2
  return last.page + stride
}

/** A page that fails after others that do not is past the last one: some services answer it with an error. */
async function* readOrFail(
  { memory, read }: PollContext,
  search: Search,
  number: number,
): AsyncGenerator<CallPage, CallPage | undefined> {
  try {
    return yield* read(number)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'rate_limited') throw error
    // If the page was past the last one, no poll would ever read it.
    if (search.last === undefined && memory.depth.failing !== undefined) memory.pages.last = undefined
    if (number === 1 || (search.last === undefined && !isClientError(error))) throw error
    search.failure = error
    search.pastLast = number
    return undefined
  }
}

/** Some services show the last page in place of all that follow. */
function isPastLast(page: CallPage, { last }: Search): boolean {
  return page.items === 0 || (last !== undefined && page.page > last.page && page.keys[0] === last.keys[0])
}

/** A short page with known rows is followed by none. */
function isShort({ memory, startsSweep }: PollContext, { goal, joining }: Reading, page: CallPage): boolean {
  const mayTrust = goal === 'joint' && !startsSweep && !memory.pages.areUneven
  return mayTrust && page.items < (memory.pages.size ?? 0) && page.keys.some((key) => joining.places.has(key))
}

/** Whether the list has calls after a page, as its total says. */
function hasMore({ memory, pageSize }: PollContext, { page, items, total = 0 }: CallPage): boolean {
  const size = memory.pages.size ?? pageSize
  return items >= size && total > page * size
}
