import type { Asked } from './answer.ts'
import { errorReply, jsonReply, type Reply } from './http.ts'
import { takesPart } from '../calls/call.ts'
import { whole, type Random } from '../random.ts'
import type { CallsService } from './service.ts'
import type { Switches } from '../switches.ts'
import type { Entry } from '../calls/world.ts'

const DEFAULT_PER_PAGE = 30
const MAX_PER_PAGE = 100

/** A page number and the number of calls per page. */
export type Page = { page: number; perPage: number }

/** Answers GET /calls, page by page. */
export function listCalls({ world, switches, streams }: CallsService, { query }: Asked): Reply {
  const asked = pageOf(query, switches)
  if ('status' in asked) return asked
  const listing = ofPeople(world.listing, query, switches)
  if ('status' in listing) return listing
  const from = (asked.page - 1) * asked.perPage
  const shown = cut(listing, switches.order, from, from + asked.perPage, streams.behaviours)
  const total = switches.total === 'given' ? listing.length : undefined
  return listReply(
    shown.map((entry) => wireText(entry, switches)),
    paginationOf(asked, shown.length, switches, total),
  )
}

/** The calls of the user or group that the query names, or the refusal. */
export function ofPeople(
  listing: Entry[],
  query: URLSearchParams,
  { peopleFilters }: Pick<Switches, 'peopleFilters'>,
): Entry[] | Reply {
  const [uid, guid] = [query.get('uid'), query.get('guid')]
  if ((uid === null && guid === null) || peopleFilters === 'ignored') return listing
  if (peopleFilters === 'refused') return errorReply(400, 'ERR_BAD_REQUEST', 'There are no such parameters.')
  return listing.filter(
    ({ call }) =>
      (uid === null || takesPart(call, uid)) &&
      (guid === null || (call.receiver === guid && call.receiverType === 'group')),
  )
}

/** The requested page, or the refusal. */
export function pageOf(query: URLSearchParams, { perPage: most }: Pick<Switches, 'perPage'>): Page | Reply {
  const page = wholeNumber(query.get('page') ?? '1')
  const asked = wholeNumber(query.get('perPage') ?? String(DEFAULT_PER_PAGE))
  if (!page || !asked) return errorReply(400, 'ERR_BAD_REQUEST', 'page and perPage are whole numbers of 1 or more.')
  const served = Math.min(asked, typeof most === 'number' ? most : MAX_PER_PAGE)
  return { page, perPage: most === 'ignored' ? DEFAULT_PER_PAGE : served }
}

/** @param total the number of all calls, if the answer has it */
export function paginationOf(
  { page, perPage }: Page,
  count: number,
  { perPageField }: Pick<Switches, 'perPageField'>,
  total?: number,
): Record<string, number> {
  const pagination = { count, ...(perPageField === 'given' && { per_page: perPage }), current_page: page }
  if (total === undefined) return pagination
  return { ...pagination, total, total_pages: Math.max(1, Math.ceil(total / perPage)) }
}

/** @param calls as JSON */
export function listReply(calls: readonly string[], pagination: Record<string, number>): Reply {
  return jsonReply(200, `{"data":[${calls.join(',')}],"meta":{"pagination":${JSON.stringify(pagination)}}}`)
}

type Form = Pick<Switches, 'empty' | 'receiverTypes'>

/** The call as JSON, in the form that the switches say. It is made once for each of its states. */
export function wireText(entry: Entry, switches: Form, wireOf = ({ call }: Entry): object => call): string {
  const form = `${switches.empty} ${switches.receiverTypes}`
  if (entry.text?.form !== form) entry.text = { form, json: JSON.stringify(formed(wireOf(entry), switches)) }
  return entry.text.json
}

const OF_CALL = { mid: null, initiatedAt: null, startedAt: null, endedAt: null, recordings: null }
const OF_PARTICIPANT = { deviceId: null, mid: null, joinedAt: null, leftAt: null }

/** The call in another published form than its own. */
export function formed(call: object, { empty, receiverTypes }: Form): object {
  const { receiverType, participants }: { receiverType?: unknown; participants?: unknown } = call
  const spelled = receiverType === 'user' || receiverType === 'group' ? `${receiverType}s` : receiverType
  const shown = receiverTypes === 'users' ? { ...call, receiverType: spelled } : call
  if (empty === 'omitted') return shown
  const entries = Array.isArray(participants) ? participants.map((one: object) => ({ ...OF_PARTICIPANT, ...one })) : []
  return { ...OF_CALL, ...shown, participants: entries }
}

/** The calls from index `from` to index `to` (excluded) of the list in the given order. */
export function cut(listing: readonly Entry[], order: string, from: number, to: number, random: Random): Entry[] {
  const size = listing.length
  if (order === 'oldest') return listing.slice(from, to)
  if (order === 'newest') return listing.slice(Math.max(0, size - to), Math.max(0, size - from)).toReversed()
  // If the list is shuffled for every request, any page is a random sample.
  return sample(listing, Math.max(0, Math.min(to, size) - from), random)
}

/** `count` different calls, all equally likely (Fisher and Yates, only the needed steps, with a sparse array). */
function sample(listing: readonly Entry[], count: number, random: Random): Entry[] {
  const moved = new Map<number, number>()
  return Array.from({ length: count }, (_none, index) => {
    const drawn = whole(random, index, listing.length - 1)
    const place = moved.get(drawn) ?? drawn
    moved.set(drawn, moved.get(index) ?? index)
    return listing[place]!
  })
}

/** A whole number of 1 or more; undefined for anything else. */
function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}
