import type { Asked } from '../../../../src/simulator/answers/answer.ts'
import { errorReply, header, jsonReply, type Reply } from '../../../../src/simulator/answers/http.ts'
import {
  listReply,
  ofPeople,
  pageOf,
  paginationOf as plainPagination,
  type Page,
} from '../../../../src/simulator/answers/list-calls.ts'
import { takesPart } from '../../../../src/simulator/calls/call.ts'
import { chance, whole } from '../../../../src/simulator/random.ts'
import type { Entry } from '../../../../src/simulator/calls/world.ts'
import type { WorldService } from '../start-world.ts'
import { besideOf, reach } from '../state.ts'
import type { Switches } from '../switches.ts'
import { cutInOrder, nextOrder } from './list-order.ts'
import { entryBefore, filtered, indexedOf } from './list-views.ts'
import { cached } from './respond.ts'
import { showCall } from './show-call.ts'

const MAX_DUPLICATES = 5

/** GET /calls, with filters and on behalf of a user, as the switches have it. */
export function listCalls(service: WorldService, asked: Asked): Reply {
  const onBehalfOf = header(asked.request, 'onbehalfof')
  const key = `${asked.request.query} ${onBehalfOf ?? ''}`
  return cached(service, key, asked.at, () => {
    const { state, switches } = service
    state.order = nextOrder(switches.order, state.order, state.streams.order)
    const listing = listingAt(service, asked.at)
    const isSeen = ({ call }: Entry) => onBehalfOf === undefined || takesPart(call, onBehalfOf)
    return pageOfCalls(service, asked, onBehalfOf === undefined ? listing : listing.filter(isSeen))
  })
}

/** What List Calls knows at a moment: a part of all calls, or what they were a while ago. */
function listingAt({ world: { listing }, state, switches }: WorldService, at: number): Entry[] {
  const { replicaLag, indexed } = switches
  let known = listing
  if (replicaLag > 0 && chance(state.streams.replica, 0.5)) {
    reach(state, 'list.lagging')
    known = known.flatMap((entry) => entryBefore(state, entry, (at - replicaLag) * 1000) ?? [])
  }
  if (indexed === 1) return known
  reach(state, 'list.indexed_in_part')
  return indexedOf(state, known, indexed)
}

function pageOfCalls(service: WorldService, { query, at }: Asked, visible: Entry[]): Reply {
  const { state, switches, streams } = service
  const { emptyList, pastLast, deepPages } = switches
  if (visible.length === 0 && emptyList !== 'list') return noCalls(service, emptyList)
  const asked = pageOf(query, switches)
  if ('status' in asked) return asked
  const perPage = servedSize(service, asked.perPage)
  const deepest = switches.deepestPage === 'any' ? Infinity : switches.deepestPage
  const beyond = asked.page > deepest ? deepPages : undefined
  if (beyond !== undefined) reach(state, `list.deep_${beyond}`)
  if (beyond === 'hang') return { ...jsonReply(200, '{}'), delivery: 'hang' }
  if (beyond === 'unavailable') return errorReply(503, 'ERR_UNAVAILABLE', 'Try again.')
  if (beyond === 'refused') {
    const message = `page ${asked.page} exceeds the allowed maximum of ${deepest * perPage} records`
    return errorReply(400, 'ERR_PAGE_TOO_DEEP', message)
  }
  const { emptyPages, firstPages } = switches
  const isEmpty = asked.page > 1 && emptyPages > 0 && chance(streams.behaviours, emptyPages)
  const isFirst = asked.page > 1 && firstPages > 0 && chance(streams.behaviours, firstPages)
  if (isEmpty) reach(state, 'list.empty_page')
  if (isFirst) reach(state, 'list.first_page_again')
  const page = beyond === 'repeated' ? deepest : isFirst ? 1 : asked.page
  const repeated = repeatedCalls(service, page, perPage)
  const wanted = ofPeople(visible, query, switches)
  if ('status' in wanted) return wanted
  const listing = filtered(wanted, query)
  const from = (page - 1) * perPage
  if (from >= listing.length && page > 1 && pastLast !== 'empty') {
    reach(state, `list.past_last_${pastLast}`)
    return noPage(pastLast, page)
  }
  reach(state, `order.${state.order}`)
  const entries =
    beyond === 'empty' || isEmpty ? [] : cutInOrder(state, listing, from - repeated, from + perPage, streams.behaviours)
  const items = entries.map((entry) => showCall(service, entry, 'list'))
  return listReply(items, paginationOf(service, listing, items.length, { page, perPage, at }))
}

/** The answer where a list has fewer pages. */
function noPage(form: Exclude<Switches['pastLast'], 'empty'>, page: number): Reply {
  const message = `There is no page ${page}.`
  if (form === 'null') return jsonReply(200, '{"data":null,"meta":{"pagination":{}}}')
  if (form === 'reset') return { ...jsonReply(200, ''), delivery: 'reset' }
  return errorReply(form === 'error_200' ? 200 : form, 'ERR_PAGE_NOT_FOUND', message)
}

function noCalls({ state }: WorldService, form: Exclude<Switches['emptyList'], 'list'>): Reply {
  reach(state, `list.empty_${form}`)
  if (form === 204) return { ...jsonReply(204, ''), headers: {} }
  return form === 404 ? errorReply(404, 'ERR_NO_CALLS', 'There are no calls.') : jsonReply(200, '{"data":null}')
}

/** The size of a page where that many calls were asked for. */
function servedSize({ switches, streams }: WorldService, asked: number): number {
  return switches.perPage === 'varying' && chance(streams.behaviours, 1 / 3) ? Math.ceil(asked / 2) : asked
}

/** How many calls of the page before come again at the beginning of this one. */
function repeatedCalls({ state, switches, streams }: WorldService, page: number, perPage: number): number {
  if (page === 1 || switches.duplicates === 0 || !chance(streams.behaviours, switches.duplicates)) return 0
  reach(state, 'list.duplicates')
  return whole(streams.behaviours, 1, Math.min(MAX_DUPLICATES, perPage))
}

/** The pagination of the answer, with a total that may mislead. */
function paginationOf(
  { state, switches, streams }: WorldService,
  listing: Entry[],
  count: number,
  { at, ...page }: Page & { at: number },
): Record<string, number> {
  const { total: said, totalLag, totalCacheSeconds, totalJitter, totalCap, hiddenRows, extraPages } = switches
  const lag = totalLag + (totalCacheSeconds > 0 ? at % totalCacheSeconds : 0)
  const isKnown = (entry: Entry) => besideOf(state, entry).sinceMs <= (at - lag) * 1000
  const calls = lag === 0 ? listing.length : listing.filter(isKnown).length
  const jitter = totalJitter === 0 || said === 'absent' ? 0 : whole(streams.behaviours, -totalJitter, totalJitter)
  const all = said === 'zero' ? 0 : said === 'page' ? count : calls + hiddenRows + jitter
  const most = totalCap === 'none' ? Infinity : totalCap
  if (said !== 'given') reach(state, `list.total_${said}`)
  if (all > most) reach(state, 'list.total_capped')
  if (hiddenRows > 0) reach(state, 'list.hidden_rows')
  if (extraPages > 0) reach(state, 'list.extra_page')
  const pagination = plainPagination(
    page,
    count,
    switches,
    said === 'absent' ? undefined : Math.max(0, Math.min(all, most)),
  )
  if (said !== 'absent') pagination['total_pages'] = said === 'zero' ? 0 : (pagination['total_pages'] ?? 0) + extraPages
  if (said === 'pages') delete pagination['total']
  if (said === 'calls') delete pagination['total_pages']
  return pagination
}
