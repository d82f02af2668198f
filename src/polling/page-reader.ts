import type { Clock } from '../clock/clock.ts'
import { finalStatus } from '../ledger/call.ts'
import { isTotalUseless } from '../ledger/list-facts.ts'
import { isEarlierRow } from '../ledger/repeated-id.ts'
import type { LedgerState } from '../ledger/state.ts'
import { isExcluded } from '../ledger/horizon.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { believedOrder, type ListMemory } from './list-memory.ts'
import { learnOrder, middleTime, type ListOrder } from './list-order.ts'
import type { Poll } from './poll.ts'
import { isOddAtEnd } from './total-cap.ts'

export type ListOptions = {
  memory: ListMemory
  state: LedgerState
  clock: Clock
  /** How far back the list is to be read (UNIX seconds). */
  horizon: number
  /** Seconds; a complete sweep is due as often as that. */
  sweepInterval: number
  /** The most pages that a sweep may read beside an increment, and for how long a poll may read on (seconds). */
  slice: number
  interval: number
  /** How much of this poll has passed in which it did not wait for the rate limit (seconds); all of it unless given. */
  passed?: () => number
  /** Calls asked for in one page. */
  pageSize: number
  /** Open calls that are to be asked for one by one unless the list shows them; none where that is not wanted. */
  wanted: () => readonly TrackedCall[]
  /**
   * Rejects with a {@link ServiceError}.
   *
   * @param once a page that the poll can do without is asked for once, not again and again
   */
  fetchPage: (page: number, once?: boolean) => Promise<CallPage>
  /** For who reads the list once: whether the end of the list must be reached, or only the horizon. As polls need it unless given. */
  reach?: 'end' | 'horizon' | undefined
}

/**
 * A page whose `total` is that of the calls that pages show: without hidden rows, and undefined where the service stops
 * counting.
 */
export type ListPage = CallPage & {
  /** The total as the service said it. */
  rows: number | undefined
  /** The number of the last page, as far as it is known. */
  lastPage: number | undefined
  /** When half of its calls had begun (UNIX seconds). */
  middle: number
}

/** What the parts of a poll share. */
export type PageReader = ListOptions & {
  readonly poll: Poll
  /** When the poll began (monotonic seconds). */
  readonly begun: number
  /** The order that the poll may rely on. */
  order: () => ListOrder
  /** Fetches a page. One past the last is empty, also where the service answers with an error instead. */
  fetch: (number: number, once?: boolean) => Promise<ListPage>
  /** Takes down what a page showed, whatever it was read for. */
  note: (page: ListPage) => void
  /** Yields first pages that were fetched to learn which page is the last. */
  asides: () => Generator<CallPage>
  /** Reads a page, and yields it on. */
  read: (number: number, once?: boolean) => AsyncGenerator<CallPage, ListPage>
}

export function pageReader(poll: Poll, options: ListOptions): PageReader {
  const { memory, state, clock, horizon, fetchPage } = options
  const { list, clockSkew = 0 } = state.sync
  /** New calls that this poll has met. Its increment clears `fresh`, and its sweep may see them again before they are counted. */
  const met = new Set<string>()
  /** The last page that had fewer items than a page has: nothing comes behind it. */
  let shortPage: number | undefined
  const aside: ListPage[] = []
  /** The page that was fetched before. */
  let before: CallPage | undefined

  /** What the page says of the list, in the light of what is known of the list. */
  function inList(page: CallPage): ListPage {
    refuteTotal(page)
    const { hidden } = memory.facts
    if (page.items < memory.pageSize) shortPage = page.page
    memory.pageSize = pageSizeAfter(memory.pageSize, before, page)
    before = page
    const isUseless = page.total !== undefined && isTotalUseless(memory.facts, page.total, page.now)
    const rows = isUseless ? undefined : page.total
    const listed = {
      ...page,
      rows: page.total,
      total: rows && Math.max(0, rows - hidden),
      lastPage: isUseless ? undefined : lastPageOf(rows, page.totalPages, memory.pageSize),
      middle: middleTime(page.calls),
    }
    if (isOddAtEnd(listed, memory, options.pageSize)) memory.oddAt = rows
    return listed
  }

  /** A larger total refutes a cap. One that is smaller than what a page shows, or than the pages before it, counts something else. */
  function refuteTotal({ page, total, items, keys, now }: CallPage): void {
    const { cap, ...facts } = memory.facts
    if (total === undefined) return
    if (cap !== undefined && total > cap) memory.facts = facts
    const before = (page - 1) * Math.min(memory.pageSize, options.pageSize)
    const isWrong = items > 0 && (total < before / 2 || total < new Set(keys).size)
    if (isWrong) memory.facts = { ...memory.facts, wrongTotalAt: now }
  }

  async function fetch(number: number, once?: boolean): Promise<ListPage> {
    try {
      return inList(await fetchPage(number, once))
    } catch (error) {
      if (number === 1 || !(error instanceof ServiceError) || !isClientError(error)) throw error
      const shortBefore = shortPage
      // Many services answer so for a page past the last; the first page tells which one that is now.
      const first = inList(await fetchPage(1, once))
      aside.push(first)
      const isBehind = error.status === 404 || shortBefore === number - 1 || memory.facts.endsInError === true
      const { total, lastPage } = first
      const isPastLast = lastPage === undefined ? isBehind : number > lastPageOf(total, undefined, memory.pageSize)!
      if (!isPastLast) throw error
      if (memory.facts.endsInError !== true) memory.facts = { ...memory.facts, endsInError: true }
      return { ...first, page: number, calls: [], keys: [], invalid: {}, items: 0, middle: Infinity }
    }
  }

  function note(page: ListPage): void {
    const { page: number } = page
    if (number >= (memory.refusedFrom ?? Infinity) && page.items > 0) memory.refusedFrom = undefined
    poll.now = page.now
    poll.host = page.host
    poll.pages += 1
    poll.size = page.total ?? poll.size
    for (const call of page.calls) {
      if ((poll.listed.size === 0 || isOpen(call)) && !isAnotherRow(call, state)) poll.listed.add(call.id)
      // Without a list that was known to its end there is nothing that new calls would have to explain.
      if (list === undefined || 'phase' in call) continue
      if (state.calls.has(call.id) || met.has(call.id) || isExcluded(call, horizon)) continue
      met.add(call.id)
      memory.fresh.add(call.id)
    }
    memory.order = learnOrder(memory.order, page.calls)
  }

  async function* read(number: number, once?: boolean): AsyncGenerator<CallPage, ListPage> {
    try {
      const page = await fetch(number, once)
      yield* asides()
      note(page)
      yield page
      return page
    } catch (error) {
      yield* asides()
      throw error
    }
  }

  function* asides(): Generator<CallPage> {
    for (const page of aside.splice(0)) {
      note(page)
      yield page
    }
  }

  const order = () => believedOrder(memory, clock.wall() + clockSkew)
  return { ...options, poll, begun: clock.monotonic(), order, fetch, note, asides, read }
}

/** A refusal by the request's own fault (RFC 9110 §15.5), which a page past the last is to many services. */
function isClientError({ kind }: ServiceError): boolean {
  return kind === 'refused' || kind === 'not_found'
}

/**
 * How many items a page has that is not the last one. A page that others follow tells; one that is longer than they were
 * tells as well, though it may repeat calls of the page before.
 */
function pageSizeAfter(size: number, before: CallPage | undefined, page: CallPage): number {
  const larger = Math.max(size, page.items)
  if (before === undefined || before.items === 0 || page.items === 0) return larger
  if (page.page === before.page + 1) return Math.min(larger, before.items)
  return page.page === before.page - 1 ? Math.min(larger, page.items) : larger
}

/** The number of the list's last page; the service's own figure may count with a page size that it does not give. */
function lastPageOf(rows: number | undefined, totalPages: number | undefined, pageSize: number): number | undefined {
  return rows === undefined ? totalPages : Math.max(totalPages ?? 1, Math.ceil(rows / pageSize), 1)
}

function isOpen({ status, endedAt }: ListedCall): boolean {
  return finalStatus({ status, endedAt }) === undefined
}

/** Another row under the id of an open call, which the ledger does not count by: the call itself is still to be asked for. */
function isAnotherRow(call: ListedCall, { open }: LedgerState): boolean {
  const tracked = open.get(call.id)
  return tracked !== undefined && !('phase' in call) && isEarlierRow(tracked, call)
}
