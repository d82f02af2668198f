import type { Clock } from '../clock/clock.ts'
import { finalStatus } from '../ledger/call.ts'
import { isTotalUseless } from '../ledger/list-traits.ts'
import { isEarlierRow } from '../ledger/repeated-id.ts'
import type { LedgerState } from '../ledger/state.ts'
import { isExcluded } from '../ledger/horizon.ts'
import type { ListedCall } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { believedOrder, type ListMemory } from './list-memory.ts'
import { learnOrder, medianStart, type ListOrder } from './list-order.ts'
import type { RunningPoll } from './poll.ts'
import { isLastPageSuspicious } from './total-cap.ts'

export type PollContextOptions = {
  memory: ListMemory
  state: LedgerState
  clock: Clock
  /** How far back to read the list (UNIX seconds). */
  horizon: number
  /** How often a complete sweep is due (seconds). */
  sweepInterval: number
  /** The most pages of a background sweep in one poll. */
  slice: number
  /** Whether enough requests are left for a slice beside the poll. */
  maySweep: () => boolean
  /** Seconds between two polls, which limit how long one may read. */
  interval: number
  /** Seconds of this poll in which it did not wait for the rate limit; by default all of them. */
  elapsed?: () => number
  /** Calls requested in one page. */
  pageSize: number
  /** Calls that will be requested one by one unless the list shows them. */
  wanted: () => readonly TrackedCall[]
  /**
   * Rejects with a {@link ServiceError}.
   *
   * @param once without retries, for a page that the poll does not depend on
   */
  fetchPage: (page: number, withoutRetries?: boolean) => Promise<CallPage>
  /** For a single read of the list: whether it must reach the end or only the horizon. By default as polls need it. */
  reach?: 'end' | 'horizon' | undefined
}

/** A page whose `total` leaves out hidden calls; it is undefined if the service's total is known to be wrong or capped. */
export type ListPage = CallPage & {
  /** The total as the service sent it. */
  rawTotal: number | undefined
  /** The number of the last page, if known. */
  lastPage: number | undefined
  /** The median of when its calls began (UNIX seconds). */
  medianStart: number
}

/** What the parts of a poll share. */
export type PollContext = PollContextOptions & {
  readonly poll: RunningPoll
  /** When the poll began (monotonic seconds). */
  readonly begun: number
  /** The order that the poll may rely on. */
  order: () => ListOrder
  /** Requests a page. A page past the last one is empty, even if the service answers it with an error. */
  fetch: (number: number, withoutRetries?: boolean) => Promise<ListPage>
  /** Records what a page showed, whatever it was read for. */
  record: (page: ListPage) => void
  /** Yields the first pages that `fetch` requested to learn the number of the last page. */
  extraPages: () => Generator<CallPage>
  /** Requests a page, records it and yields it. */
  read: (number: number, withoutRetries?: boolean) => AsyncGenerator<CallPage, ListPage>
}

export function newPollContext(poll: RunningPoll, options: PollContextOptions): PollContext {
  const { memory, state, clock, horizon, fetchPage } = options
  const { list, clockSkew = 0 } = state.sync
  /** All new calls of this poll. An incremental poll clears `newIds`, and a sweep may see them again before they are counted. */
  const foundNew = new Set<string>()
  /** The last page that had fewer items than a full page: it may be the last one of the list. */
  let shortPage: number | undefined
  const extra: ListPage[] = []
  let previous: CallPage | undefined

  /** Adds to a page what is known of the list. */
  function toListPage(page: CallPage): ListPage {
    refuteTotal(page)
    const { hidden } = memory.traits
    if (page.items < memory.pageSize) shortPage = page.page
    memory.pageSize = pageSizeAfter(memory.pageSize, previous, page)
    previous = page
    const isUseless = page.total !== undefined && isTotalUseless(memory.traits, page.total, page.serviceTime)
    const usableTotal = isUseless ? undefined : page.total
    const listed = {
      ...page,
      rawTotal: page.total,
      total: usableTotal && Math.max(0, usableTotal - hidden),
      lastPage: isUseless ? undefined : lastPageOf(usableTotal, page.totalPages, memory.pageSize),
      medianStart: medianStart(page.calls),
    }
    if (isLastPageSuspicious(listed, memory, options.pageSize)) memory.suspectTotal = usableTotal
    return listed
  }

  /** A larger total refutes a cap. A total that is smaller than what a page or the pages before it show counts something else. */
  function refuteTotal({ page, total, items, keys, serviceTime }: CallPage): void {
    const { cap, ...traits } = memory.traits
    if (total === undefined) return
    if (cap !== undefined && total > cap) memory.traits = traits
    const before = (page - 1) * Math.min(memory.pageSize, options.pageSize)
    const isWrong = items > 0 && (total < before / 2 || total < new Set(keys).size)
    if (isWrong) memory.traits = { ...memory.traits, wrongTotalAt: serviceTime }
  }

  async function fetch(number: number, withoutRetries?: boolean): Promise<ListPage> {
    try {
      return toListPage(await fetchPage(number, withoutRetries))
    } catch (error) {
      if (number === 1 || !(error instanceof ServiceError) || !isClientError(error)) throw error
      const shortBefore = shortPage
      // Many services answer a page past the last one like this; the first page shows which one is the last now.
      const first = toListPage(await fetchPage(1, withoutRetries))
      extra.push(first)
      const isProbablyPastLast =
        error.status === 404 || shortBefore === number - 1 || memory.traits.endsInError === true
      const { total, lastPage } = first
      const isPastLast =
        lastPage === undefined ? isProbablyPastLast : number > lastPageOf(total, undefined, memory.pageSize)!
      if (!isPastLast) throw error
      recordEndInError(number)
      return { ...first, page: number, calls: [], keys: [], invalid: {}, items: 0, medianStart: Infinity }
    }
  }

  /** An error past the last page moves with it; the first page that is refused for its depth is always the same. */
  function recordEndInError(page: number): void {
    const { errorPastLast: before } = memory
    const end = { page, items: (page - 1) * options.pageSize }
    memory.errorPastLast = end
    const hasMoved = before !== undefined && before.page !== end.page && before.items !== end.items
    if (hasMoved && memory.traits.endsInError !== true) memory.traits = { ...memory.traits, endsInError: true }
  }

  function record(page: ListPage): void {
    const { page: number } = page
    if (number >= (memory.refusedFrom ?? Infinity) && page.items > 0) memory.refusedFrom = undefined
    poll.serviceTime = page.serviceTime
    poll.hostTime = page.hostTime
    poll.pages += 1
    poll.size = page.total ?? poll.size
    for (const call of page.calls) {
      if ((poll.listed.size === 0 || isOpen(call)) && !isOtherRow(call, state)) poll.listed.add(call.id)
      // Only the total of an earlier poll needs new calls to explain it.
      if (list === undefined || 'phase' in call) continue
      if (state.calls.has(call.id) || foundNew.has(call.id) || isExcluded(call, horizon)) continue
      foundNew.add(call.id)
      memory.newIds.add(call.id)
    }
    memory.order = learnOrder(memory.order, page.calls)
  }

  async function* read(number: number, withoutRetries?: boolean): AsyncGenerator<CallPage, ListPage> {
    try {
      const page = await fetch(number, withoutRetries)
      yield* extraPages()
      record(page)
      yield page
      return page
    } catch (error) {
      yield* extraPages()
      throw error
    }
  }

  function* extraPages(): Generator<CallPage> {
    for (const page of extra.splice(0)) {
      record(page)
      yield page
    }
  }

  const order = () => believedOrder(memory, clock.wall() + clockSkew)
  return { ...options, poll, begun: clock.monotonic(), order, fetch, record, extraPages, read }
}

/** A 4xx answer (RFC 9110 §15.5), with which many services answer a page past the last one. */
function isClientError({ kind }: ServiceError): boolean {
  return kind === 'refused' || kind === 'not_found'
}

/**
 * The number of items on a page that is not the last one. A page that another one follows shows it, and so does a page that
 * is longer than the known size, though it may repeat calls of the page before.
 */
function pageSizeAfter(size: number, previous: CallPage | undefined, page: CallPage): number {
  const larger = Math.max(size, page.items)
  if (previous === undefined || previous.items === 0 || page.items === 0) return larger
  if (page.page === previous.page + 1) return Math.min(larger, previous.items)
  return page.page === previous.page - 1 ? Math.min(larger, page.items) : larger
}

/** The number of the list's last page; the service's own number may be for a page size that it does not use. */
function lastPageOf(total: number | undefined, totalPages: number | undefined, pageSize: number): number | undefined {
  return total === undefined ? totalPages : Math.max(totalPages ?? 1, Math.ceil(total / pageSize), 1)
}

function isOpen({ status, endedAt }: ListedCall): boolean {
  return finalStatus({ status, endedAt }) === undefined
}

/** A second row with the id of an open call, which the ledger ignores: the call itself was not listed. */
function isOtherRow(call: ListedCall, { open }: LedgerState): boolean {
  const tracked = open.get(call.id)
  return tracked !== undefined && !('phase' in call) && isEarlierRow(tracked, call)
}
