import type { CallPage } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import { isClientError, type PollContext } from '../poll-context.ts'
import { refusedFrom } from '../poll-problems.ts'
import { lastPageBy, type Reading } from './reading.ts'

/**
 * The search for the last page. `last` is the last page found so far that has calls. `pastLast` is a page after it that has
 * none, or cannot be read (`failure`).
 */
type Search = {
  last: CallPage | undefined
  pastLast: number
  failure: ServiceError | undefined
  /** By how many pages to advance, and the last page according to the service. */
  stride: number
  hint: number | undefined
}

/**
 * Finds and reads the last page of a list that grows at its end. Starts at the previous last page, or at the page that the
 * service names, and continues by doubling and halving the step. A short page with known rows is the last page, except for a
 * sweep, which checks further.
 *
 * @throws {ServiceError} if a page of the list cannot be read
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
  // A page that is not full is hardly followed by another one.
  const stride = last.items < (size ?? 0) ? 1 : search.stride
  search.stride = stride * 2
  return last.page + stride
}

/** A page that fails while others do not is past the last page: some services answer it with an error. */
async function* readOrFail(
  { memory, read }: PollContext,
  search: Search,
  number: number,
): AsyncGenerator<CallPage, CallPage | undefined> {
  try {
    return yield* read(number)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'rate_limited') throw error
    // If the remembered page is past the last one, polls would always fail at it.
    if (search.last === undefined && memory.depth.failing !== undefined) memory.pages.last = undefined
    if (number === 1 || (search.last === undefined && !isClientError(error))) throw error
    search.failure = error
    search.pastLast = number
    return undefined
  }
}

/** Some services show the last page again instead of the pages after it. */
function isPastLast(page: CallPage, { last }: Search): boolean {
  return page.items === 0 || (last !== undefined && page.page > last.page && page.keys[0] === last.keys[0])
}

/** A short page with known rows is the last one. */
function isShort({ memory, startsSweep }: PollContext, { goal, joining }: Reading, page: CallPage): boolean {
  const mayTrust = goal === 'joint' && !startsSweep && !memory.pages.areUneven
  return mayTrust && page.items < (memory.pages.size ?? 0) && page.keys.some((key) => joining.indexes.has(key))
}

/** Whether the list has calls after a page, according to its total. */
function hasMore({ memory, pageSize }: PollContext, { page, items, total = 0 }: CallPage): boolean {
  const size = memory.pages.size ?? pageSize
  return items >= size && total > page * size
}
