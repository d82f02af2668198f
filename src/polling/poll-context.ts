import type { Clock } from '../clock/clock.ts'
import { finalStatus } from '../ledger/call.ts'
import { sessionOf } from '../ledger/identity.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage } from '../service/calls-client.ts'
import type { ServiceError } from '../service/service-error.ts'
import type { ListMemory } from './list/list-state.ts'
import { knownOrder, addToEvidence } from './list/list-order.ts'
import type { RunningPoll } from './poll.ts'
import type { PollConfig } from './poll-section.ts'
import type { Reading } from './list/reading.ts'

export type PollContextOptions = Pick<PollConfig, 'interval' | 'lookback' | 'sweepInterval' | 'pageSize'> & {
  memory: ListMemory
  state: LedgerState
  clock: Clock
  /** How far back to read the list (UNIX seconds). */
  horizon: number
  /** The most pages of a sweep in one poll. */
  slice: number
  /** Whether enough requests are left for a slice of a sweep. */
  maySweep: () => boolean
  /** The active seconds of this poll, without waits for the rate limiter; default: all seconds. */
  elapsed?: () => number
  /** Calls that will be requested one by one unless the list shows them. */
  callsToRequest: () => readonly TrackedCall[]
  /**
   * Rejects with a {@link ServiceError}.
   *
   * @param withoutRetries for a page that the poll does not need
   */
  fetchPage: (page: number, withoutRetries?: boolean) => Promise<CallPage>
  /** What a single reading must reach. The default is a joint, as polls need it. */
  goal?: Reading['goal']
}

/** What the parts of a poll share. */
export type PollContext = Required<PollContextOptions> & {
  readonly poll: RunningPoll
  /** When it began (monotonic seconds). */
  readonly begun: number
  /** Whether a sweep is due. It continues where this poll joins. */
  readonly startsSweep: boolean
  /** Requests a page and records what it shows. */
  fetch: (number: number, withoutRetries?: boolean) => Promise<CallPage>
  /** Requests a page, records what it shows, and yields it. */
  read: (number: number) => AsyncGenerator<CallPage, CallPage>
}

export function newPollContext(poll: RunningPoll, options: PollContextOptions): PollContext {
  const { memory, clock, fetchPage } = options
  const begun = clock.monotonic()
  const startsSweep = memory.sweep.state === 'idle' && isSweepDue(options)

  async function fetch(number: number, withoutRetries?: boolean): Promise<CallPage> {
    const page = await fetchPage(number, withoutRetries)
    notePage(memory, poll.lastPage, page, options.pageSize)
    poll.serviceTime = page.serviceTime
    poll.hostTime = page.hostTime
    poll.pages += 1
    if (page.items > 0) poll.lastPage = page
    for (const call of page.calls)
      if (poll.listed.size === 0 || finalStatus(call) === undefined) poll.listed.set(call.id, sessionOf(call))
    return page
  }

  async function* read(number: number): AsyncGenerator<CallPage, CallPage> {
    const page = await fetch(number)
    yield page
    return page
  }

  return { elapsed: () => clock.monotonic() - begun, goal: 'joint', ...options, poll, begun, fetch, read, startsSweep }
}

/** Records what a page shows about the list, whatever it was read for. */
function notePage(
  { depth, pages, catchUp }: ListMemory,
  before: CallPage | undefined,
  page: CallPage,
  requested: number,
): void {
  if (page.page >= (depth.refusedFrom ?? Infinity) && page.items > 0) depth.refusedFrom = undefined
  if (page.page === depth.failing?.page) depth.failing = undefined
  // Old calls further back may be in another order.
  const isAtEnd = catchUp !== undefined && catchUp.began === undefined
  if (isAtEnd || knownOrder(pages.evidence) === 'unknown') pages.evidence = addToEvidence(pages.evidence, page.calls)
  if (before !== undefined) notePageSize(pages, before.page < page.page ? [before, page] : [page, before], requested)
}

function notePageSize(pages: ListMemory['pages'], [first, second]: [CallPage, CallPage], requested: number): void {
  // Only the last page may be shorter than others. A page that repeats rows of the previous page has more items.
  const isFollowed = second.page === first.page + 1 && second.items > 0 && first.items > 0
  if (!isFollowed) return
  const size = Math.min(first.items, requested)
  pages.areUneven ||= size !== (pages.size ?? size)
  pages.size = size
}

/** Whether a sweep is due, or the rest of one. */
export function isSweepDue({ memory, clock, sweepInterval }: PollContextOptions): boolean {
  const { state, last } = memory.sweep
  const dueAt = last === undefined ? -Infinity : last.at + sweepInterval - last.seconds
  return state !== 'idle' || memory.total.state === 'tripped' || clock.monotonic() >= dueAt
}

/** A 4xx answer (RFC 9110 §15.5), with which many services answer a page past the last one. */
export function isClientError({ kind }: ServiceError): boolean {
  return kind === 'refused' || kind === 'not_found'
}
