import { errorReply, jsonReply, type Reply } from './http.ts'
import { reach, type Reached } from './ledger.ts'
import { cut, type Order } from './list-order.ts'
import { filtered } from './list-views.ts'
import { entryAt, sizeOf, type Listing } from './listing.ts'
import { showCall } from './oddities.ts'
import { chance, whole, type Random } from './random.ts'
import type { Switches } from './switches.ts'

const DEFAULT_PER_PAGE = 50
const MAX_PER_PAGE = 1000
const MAX_DUPLICATES = 5

/** `random` comes from a stream of the seed that nothing else uses; `at` in seconds since 1970. */
type ListContext = {
  switches: Switches
  order: Order
  at: number
  timeShift: number
  random: Random
  reached: Reached
}

/**
 * GET /calls, page by page, steered by the switches `perPage`, `deepestPage`, `deepPages`, `pastLast`, `duplicates` and
 * those of the total.
 *
 * @param visible all that the caller may see
 */
export function listCalls(visible: Listing, query: URLSearchParams, context: ListContext): Reply {
  const { order, random, reached, switches } = context
  if (sizeOf(visible) === 0 && switches.emptyList !== 'list') return emptyList(switches.emptyList, context)
  const asked = wholeNumber(query.get('page') ?? '1')
  const askedSize = wholeNumber(query.get('perPage') ?? String(DEFAULT_PER_PAGE))
  if (!asked || !askedSize) {
    return errorReply(400, 'ERR_BAD_REQUEST', 'page and perPage are whole numbers of 1 or more.')
  }
  const perPage = servedSize(Math.min(askedSize, MAX_PER_PAGE), context)
  const deepest = switches.deepestPage === 'any' ? Infinity : switches.deepestPage
  const beyond = asked > deepest ? switches.deepPages : undefined
  if (beyond === 'hang') {
    reach(reached, 'list.page_hung')
    return { ...jsonReply(200, '{}'), delivery: 'hang' }
  }
  if (beyond === 'refused') {
    reach(reached, 'list.page_refused')
    const message = `page ${asked} exceeds the allowed maximum of ${deepest * perPage} records`
    return errorReply(400, 'ERR_PAGE_TOO_DEEP', message)
  }
  if (beyond === 'repeated') reach(reached, 'list.page_repeated')
  const page = beyond === 'repeated' ? deepest : asked
  const repeated = repeatedCalls(page, perPage, context)
  const listing = filtered(visible, query)
  const from = (page - 1) * perPage
  if (from >= sizeOf(listing) && page > 1 && switches.pastLast !== 'empty') {
    reach(reached, `list.past_last_${switches.pastLast}`)
    return errorReply(switches.pastLast, 'ERR_PAGE_NOT_FOUND', `There is no page ${page}.`)
  }
  reach(reached, `order.${order}`)
  if (beyond === 'empty') reach(reached, 'list.page_emptied')
  const entries = beyond === 'empty' ? [] : cut(listing, order, from - repeated, from + perPage, random)
  const showing = { random, reached, odd: switches.odd, timeShift: context.timeShift, operation: 'list' } as const
  const items = entries.map((entry) => showCall(entry, showing))
  const pagination = JSON.stringify(paginationOf(listing, items.length, { page, perPage }, context))
  return jsonReply(200, `{"data":[${items.join(',')}],"meta":{"pagination":${pagination}}}`)
}

function emptyList(form: 'null' | 204 | 404, { reached }: ListContext): Reply {
  reach(reached, `list.empty_${form}`)
  if (form === 204) return { ...jsonReply(204, ''), headers: {} }
  return form === 404 ? errorReply(404, 'ERR_NO_CALLS', 'There are no calls.') : jsonReply(200, '{"data":null}')
}

/** The size of a page where that many calls were asked for. */
function servedSize(asked: number, { switches: { perPage }, random, reached }: ListContext): number {
  if (perPage === 'honoured') return asked
  const most = perPage === 'varying' ? (chance(random, 1 / 3) ? Math.ceil(asked / 2) : asked) : perPage
  const served = most === 'ignored' ? DEFAULT_PER_PAGE : Math.min(asked, most)
  if (served !== asked) reach(reached, 'list.other_page_size')
  return served
}

/** How many calls of the page before come again at the beginning of this one. */
function repeatedCalls(page: number, perPage: number, { switches, random, reached }: ListContext): number {
  if (page === 1 || switches.duplicates === 0 || !chance(random, switches.duplicates)) return 0
  reach(reached, 'list.duplicates')
  return whole(random, 1, Math.min(MAX_DUPLICATES, perPage))
}

/** The pagination of the answer. */
function paginationOf(
  listing: Listing,
  count: number,
  { page, perPage }: { page: number; perPage: number },
  { switches, at, random, reached }: ListContext,
): Record<string, number> {
  const { total: said, totalLag, totalJitter, totalCap, hiddenRows, extraPages, perPageField } = switches
  const pagination = { count, ...(perPageField === 'given' ? { per_page: perPage } : {}), current_page: page }
  if (said === 'absent') return pagination
  if (said !== 'given') reach(reached, `list.total_${said}`)
  const calls = totalLag === 0 ? sizeOf(listing) : sizeUntil(listing, at - totalLag)
  const jitter = totalJitter === 0 ? 0 : whole(random, -totalJitter, totalJitter)
  const all = said === 'zero' ? 0 : said === 'page' ? count : calls + hiddenRows + jitter
  const most = totalCap === 'none' ? Infinity : totalCap
  if (all > most) reach(reached, 'list.total_capped')
  if (hiddenRows > 0) reach(reached, 'list.hidden_rows')
  if (extraPages > 0) reach(reached, 'list.extra_page')
  const total = Math.max(0, Math.min(all, most))
  const total_pages = said === 'zero' ? 0 : Math.max(1, Math.ceil(total / perPage)) + extraPages
  return { ...pagination, ...(said === 'pages' ? {} : { total }), ...(said === 'calls' ? {} : { total_pages }) }
}

/** How many of the calls were in the list at a moment already (seconds since 1970). */
function sizeUntil(listing: Listing, at: number): number {
  let size = sizeOf(listing)
  for (let index = 0; index < sizeOf(listing); index++) if (entryAt(listing, index).sinceMs > at * 1000) size -= 1
  return size
}

/** 1 or more; undefined for anything else. */
function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}
