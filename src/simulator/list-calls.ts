import type { BehaviourContext, Pagination, Paging } from './behaviours/behaviour.ts'
import { behaviours } from './behaviours/behaviours.ts'
import { isTooDeep } from './behaviours/deepest-page.ts'
import { DEFAULT_PER_PAGE } from './behaviours/page-size.ts'
import { filtered } from './filters.ts'
import { cut } from './list-order.ts'
import type { Order } from './list-order.ts'
import { entryAt, sizeOf } from './listing.ts'
import type { Listing } from './listing.ts'
import { reach } from './reached.ts'
import { errorReply, jsonTextReply } from './reply.ts'
import type { Reply } from './reply.ts'
import { showCall } from './show-call.ts'

const MOST_PER_PAGE = 1000

/** `at` in seconds since 1970. */
export type ListContext = BehaviourContext & { order: Order; at: number }

/** GET /calls. `visible`: all that the caller may see. */
export function listCalls(visible: Listing, query: URLSearchParams, context: ListContext): Reply {
  const { order, random, reached, switches } = context
  const page = wholeNumber(query.get('page') ?? '1')
  const perPage = wholeNumber(query.get('perPage') ?? String(DEFAULT_PER_PAGE))
  if (!page || !perPage) {
    return errorReply(400, 'ERR_BAD_REQUEST', 'page and perPage are whole numbers of 1 or more.')
  }
  let paging: Paging = { page, perPage: Math.min(perPage, MOST_PER_PAGE) }
  let repeated = 0
  for (const behaviour of behaviours) {
    paging = behaviour.paging?.(paging, context) ?? paging
    const refusal = behaviour.refusal?.(paging, context)
    if (refusal) return refusal
    repeated += behaviour.repeated?.(paging, context) ?? 0
  }
  const listing = filtered(visible, query)
  const from = (paging.page - 1) * paging.perPage
  if (from >= sizeOf(listing) && paging.page > 1 && switches.pastLast !== 'empty') {
    reach(reached, `list.past_last_${switches.pastLast}`)
    return errorReply(switches.pastLast, 'ERR_PAGE_NOT_FOUND', `There is no page ${paging.page}.`)
  }
  reach(reached, `order.${order}`)
  const isDeep = isTooDeep(paging.page, switches)
  if (isDeep) reach(reached, 'list.page_emptied')
  const entries = isDeep ? [] : cut(listing, order, from - repeated, from + paging.perPage, random)
  const showing = { random, reached, odd: switches.odd, operation: 'list' } as const
  const items = entries.map((entry) => showCall(entry, showing))
  const pagination = JSON.stringify(paginationOf(listing, items.length, paging, context))
  return jsonTextReply(200, `{"data":[${items.join(',')}],"meta":{"pagination":${pagination}}}`)
}

function paginationOf(listing: Listing, count: number, { page, perPage }: Paging, context: ListContext): Pagination {
  const { totalLag } = context.switches
  const total = totalLag === 0 ? sizeOf(listing) : sizeUntil(listing, context.at - totalLag)
  const pagination: Pagination = {
    total,
    count,
    per_page: perPage,
    current_page: page,
    total_pages: Math.max(1, Math.ceil(total / perPage)),
  }
  return behaviours.reduce((said, behaviour) => behaviour.pagination?.(said, context) ?? said, pagination)
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
