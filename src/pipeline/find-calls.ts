import { firstValueFrom, NEVER, takeUntil } from 'rxjs'
import { sleep, type Clock } from '../clock/clock.ts'
import type { SeenCall } from '../ledger/call.ts'
import type { Found, Wanted } from '../ledger/found-calls.ts'
import { formsOf } from '../ledger/session-id.ts'
import type { ListedCall } from '../ledger/observation.ts'
import { addToEvidence, knownOrder, NO_EVIDENCE } from '../polling/list/list-order.ts'
import type { RateLimiter } from '../polling/rate-limiter.ts'
import { requestWithRetries, type Operation, type RequestOptions } from '../polling/request-with-retries.ts'
import { whenAborted } from '../rx/abortable.ts'
import { callsClient, type CallsClientOptions } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import type { Transport } from '../service/transport.ts'

export type FindOptions = {
  send: Transport
  client: CallsClientOptions
  asking: RequestOptions
  /** Calls that began before are not looked for (UNIX seconds). */
  since: number
  /** Those that began at this time or later are left out (UNIX seconds). */
  before?: number | undefined
  /** Ends the search. What has been read by then is found. */
  until?: AbortSignal
  /** Called before each page, with how many will be read at most, if that is known. */
  onPage?: (page: number, of: number | undefined) => void
}

/** A search that knows whether a request of it was sent. */
type Search = FindOptions & { isSent: () => boolean }

/** So many pages of a list are read at most. */
const MOST_PAGES = 20

/**
 * Asks the service for the calls of a user, a group or a session. Who took part is in memory only.
 *
 * @throws {ServiceError}
 */
export async function findCalls(wanted: Wanted, given: FindOptions): Promise<Found> {
  let isSent = false
  const send: Transport = async (...request) => {
    isSent = true
    return given.send(...request)
  }
  const options: Search = { ...given, send, isSent: () => isSent }
  if ('session' in wanted) {
    const calls = await getCalls(wanted.session, options)
    return { calls: newestFirst(calls), filter: 'none', unclear: 0, isWhole: true }
  }
  const filtered = await readPages(wanted, options).catch((error: unknown) => {
    if (error instanceof ServiceError && error.kind === 'refused' && !error.isUnknownUser) return undefined
    throw error
  })
  const { calls, isWhole } = filtered ?? (await readPages({}, options))
  const by = Map.groupBy(calls, (call) => isOf(call, wanted))
  const filter = filtered === undefined ? 'refused' : by.has(false) ? 'ignored' : 'honoured'
  const isTrusted = filter === 'honoured'
  const recent = (some: readonly SeenCall[] = []) =>
    some.filter((call) => {
      const start = startOf(call) ?? options.since
      return start >= options.since && start < (options.before ?? Infinity)
    })
  return {
    calls: newestFirst(recent(isTrusted ? calls : by.get(true))),
    filter,
    unclear: isTrusted ? 0 : recent(by.get(undefined)).length,
    isWhole,
  }
}

/** A rate limiter that grants only what polls leave. */
export function spare(rateLimiter: RateLimiter, clock: Clock): RateLimiter {
  return {
    ...rateLimiter,
    take: async (signal) => {
      while (!rateLimiter.hasSpare()) await sleep(clock, RECHECK_SECONDS, signal)
      return rateLimiter.take(signal)
    },
  }
}

/** While no request can be spared, this is checked so often (seconds). */
const RECHECK_SECONDS = 0.5

/**
 * Reads a list, from its newest end if its order is known: until all calls of a page are too old, or to its other end.
 *
 * @throws {ServiceError} if the search ends before the first page was read
 */
async function readPages(filter: Readonly<Record<string, string>>, options: Search) {
  const { send, client, since, onPage = () => undefined } = options
  const { listCalls } = callsClient(send, { ...client, ...FULL, query: { ...client.query, ...filter } })
  const calls = new Map<string, SeenCall>()
  let evidence = NO_EVIDENCE
  let pages = Infinity
  let place: Place | undefined = FIRST_PLACE
  for (let count = 1; count <= MOST_PAGES && place !== undefined; count++) {
    const { page }: Place = place
    onPage(count, pages === Infinity ? undefined : Math.min(pages, MOST_PAGES))
    const answer = await ask('list_calls', (signal) => listCalls(page, signal), options).catch((error: unknown) => {
      if (place === FIRST_PLACE || !(error instanceof ServiceError)) throw error
      // What was read before is found.
      return undefined
    })
    if (answer === undefined) break
    const rows = seenIn(answer.calls)
    for (const row of rows) calls.set(JSON.stringify([row.session, row.mid, row.initiatedAt, row.startedAt]), row)
    evidence = addToEvidence(evidence, rows)
    pages = answer.totalPages ?? pages
    const isPast = rows.length > 0 && rows.every((row) => (startOf(row) ?? since) < since)
    place = nextPlace(place, { pages, order: knownOrder(evidence), isPast, isEmpty: answer.items === 0 })
  }
  if (place === FIRST_PLACE) throw tooLate(options)
  return { calls: [...calls.values()], isWhole: place === undefined }
}

/** A page of a list, and where to go from there: to the next page, or to the one before. */
type Place = { page: number; step: 1 | -1 }
const FIRST_PLACE: Place = { page: 1, step: 1 }

type PageRead = { pages: number; order: ReturnType<typeof knownOrder>; isPast: boolean; isEmpty: boolean }

/** What to read after a page; undefined if nothing more is needed. */
function nextPlace({ page, step }: Place, { pages, order, isPast, isEmpty }: PageRead): Place | undefined {
  // Backwards, the oldest page was read first.
  if (step === -1) return isPast || page === 2 ? undefined : { page: page - 1, step }
  if (isEmpty || page >= pages || (isPast && order === 'newest first')) return undefined
  const isTurned = page === 1 && order === 'oldest first' && pages < Infinity
  return isTurned ? { page: pages, step: -1 } : { page: page + 1, step }
}

/** The calls of a session, by either form of its id; none if the service does not know it. */
async function getCalls(session: string, options: Search): Promise<SeenCall[]> {
  const { getCall } = callsClient(options.send, { ...options.client, ...FULL })
  for (const id of formsOf(session, options.client)) {
    try {
      const answer = await ask('get_call', (signal) => getCall(id, signal), options)
      if (answer === undefined) throw tooLate(options)
      return answer.calls
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'not_found')) throw error
    }
  }
  return []
}

const FULL = { participants: true, parties: true } as const

/** The answer; undefined if the search has ended before. */
function ask<T>(
  operation: Operation,
  request: (signal: AbortSignal) => Promise<T>,
  { asking, until }: FindOptions,
): Promise<T | undefined> {
  const ended$ = until === undefined ? NEVER : whenAborted(until)
  const answer$ = requestWithRetries(operation, request, asking).pipe(takeUntil(ended$))
  return firstValueFrom(answer$, { defaultValue: undefined })
}

const tooLate = ({ isSent }: Search) =>
  new ServiceError(
    'timeout',
    isSent()
      ? 'the service did not answer in time; try again later'
      : 'polls left no request for this search; try again later',
  )

/** A client that knows no calls answers no tracked ones. */
const seenIn = (calls: readonly ListedCall[]) => calls.flatMap((call) => ('phase' in call ? [] : call))

/** Whether a call is that of the user or group; undefined if it does not say. */
function isOf({ parties, participants, receiverType }: SeenCall, wanted: { uid: string } | { guid: string }) {
  const { initiator, receiver } = parties ?? {}
  const isToGroup = receiverType === 'group'
  if ('guid' in wanted) return receiver === undefined ? undefined : receiver === wanted.guid && receiverType !== 'user'
  const others = participants?.map(({ uid }) => uid) ?? []
  if ([initiator, isToGroup ? undefined : receiver, ...others].includes(wanted.uid)) return true
  const areAllNamed = initiator !== undefined && (isToGroup ? participants !== undefined : receiver !== undefined)
  return areAllNamed ? false : undefined
}

const newestFirst = (calls: readonly SeenCall[]) => calls.toSorted((a, b) => (startOf(b) ?? 0) - (startOf(a) ?? 0))

/** When a call began: a room that is used again may keep the time at which it was opened first. */
function startOf({ initiatedAt, startedAt }: SeenCall): number | undefined {
  return initiatedAt === undefined || startedAt === undefined
    ? (initiatedAt ?? startedAt)
    : Math.max(initiatedAt, startedAt)
}
