import { from, lastValueFrom, mergeMap, takeUntil, toArray } from 'rxjs'
import type { SeenCall } from '../ledger/call.ts'
import type { LedgerState } from '../ledger/state.ts'
import type { ServiceAnswer } from '../ledger/observation.ts'
import { sessionOf } from '../ledger/identity.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import { isRequestable, type CallAnswer } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { AbortedError, whenAborted } from '../rx/abortable.ts'
import type { RunningPoll } from './poll.ts'
import type { PollConfig } from './poll-section.ts'

/** When each call was last requested, by id (monotonic seconds). */
export type RequestedAt = Map<string, number>

const CONCURRENT = 4

/**
 * Chooses the calls to request one by one: open calls that the list did not show, and final calls without participants. Old
 * calls are requested less often than young ones, but at least once in a sweep interval. The call whose last request is longest
 * ago comes first.
 *
 * @param requestedAt calls that need no further requests are removed from it
 * @param times `now` is the service's clock (UNIX seconds), for the age of a call; `monotonic` is for `requestedAt`
 */
export function chooseFollowUps(
  state: Pick<LedgerState, 'open' | 'detailsWanted'>,
  listed: Pick<RunningPoll['listed'], 'has'>,
  requestedAt: RequestedAt,
  { now, monotonic }: { now: number; monotonic: number },
  { interval, sweepInterval }: Pick<PollConfig, 'interval' | 'sweepInterval'>,
): TrackedCall[] {
  for (const id of requestedAt.keys()) if (!state.open.has(id) && !state.detailsWanted.has(id)) requestedAt.delete(id)
  const isDue = (call: TrackedCall) => {
    const last = requestedAt.get(call.id)
    const pause = Math.min(sweepInterval, (now - beganAt(call)) / 20)
    // Rounds to polls, because a timer may fire slightly early.
    return last === undefined || monotonic - last >= pause - interval / 2
  }
  const unlisted = [...state.open.values()].filter(({ id }) => !listed.has(id))
  return [...unlisted, ...state.detailsWanted.values()]
    .filter((call) => isRequestable(sessionOf(call)) && isDue(call))
    .toSorted((a, b) => (requestedAt.get(a.id) ?? -1) - (requestedAt.get(b.id) ?? -1))
}

export type CallRequestOptions = {
  /**
   * Requests calls of one session. Rejects with a {@link ServiceError}, or with an {@link AbortedError} once the poll is aborted.
   */
  fetchCalls: (session: string, ids: readonly string[]) => Promise<CallAnswer>
  /** Stops the requests. Answers received before that count. */
  aborted: AbortSignal
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Called with each problem. */
  onProblem: (problem: ServiceError) => void
}

export type FollowUpRequestOptions = CallRequestOptions & {
  /** Called if the service does not know any of the calls that it should know. */
  onDistrust: () => void
}

/**
 * Requests calls one by one. If at least five are requested and the service does not know more than half of them, a call that
 * it has just listed is requested as a control. If the service does not know that call either, the target is wrong, and the
 * "not found" answers are discarded.
 *
 * @param listed what this poll listed
 */
export async function followUps(
  calls: readonly TrackedCall[],
  listed: Pick<RunningPoll['listed'], 'entries'>,
  options: FollowUpRequestOptions,
): Promise<ServiceAnswer[]> {
  const answers = await requestCalls(calls, options)
  const found = answers.filter(({ notFound }) => notFound.length === 0)
  const notFoundCount = answers.length - found.length
  if (answers.length < 5 || notFoundCount * 2 <= answers.length) return answers
  const control = listed.entries().find(([, session]) => isRequestable(session))
  const answer = control && (await requestSession(control[1], [control[0]], -Infinity, options))
  if (options.aborted.aborted) return found
  if (answer !== undefined && answer.calls.length > 0) return [...answers, answer]
  options.onDistrust()
  options.onProblem(
    new ServiceError('refused', `the service knows none of ${notFoundCount} open calls: wrong user or app?`),
  )
  return found
}

/** Requests calls session by session, with a few requests in parallel. */
export async function requestCalls(
  calls: readonly TrackedCall[],
  options: CallRequestOptions,
): Promise<ServiceAnswer[]> {
  const sessions = Map.groupBy(calls, sessionOf)
  const answers$ = from([...sessions].filter(([session]) => isRequestable(session))).pipe(
    takeUntil(whenAborted(options.aborted)),
    mergeMap(
      ([session, wanted]) =>
        requestSession(session, wanted.map(({ id }) => id), Math.min(...wanted.map(beganAt)), options), // oxfmt-ignore
      CONCURRENT,
    ),
    toArray(),
  )
  return (await lastValueFrom(answers$)).flatMap((answer) => answer ?? [])
}

/**
 * Requests calls of a session. Resolves to undefined after a problem, and when the poll is aborted.
 *
 * @param since other calls of the session count if they began since then (UNIX seconds). Earlier ones were listed, and a server that
 * lags behind may show them as they were.
 */
async function requestSession(
  session: string,
  ids: readonly string[],
  since: number,
  { fetchCalls, wall, onProblem }: CallRequestOptions,
): Promise<ServiceAnswer | undefined> {
  try {
    const answer = await fetchCalls(session, ids)
    // That another call of the session is shown is no evidence: the service may show the latest one alone.
    const notFound = answer.calls.length === 0 ? [...ids] : []
    const isWanted = ({ id, initiatedAt, startedAt = -Infinity }: SeenCall) =>
      ids.includes(id) || (initiatedAt ?? startedAt) >= since
    return { ...answer, source: 'get', calls: answer.calls.filter(isWanted), notFound, invalid: {} }
  } catch (error) {
    if (error instanceof AbortedError) return undefined
    if (!(error instanceof ServiceError)) throw error
    if (error.kind !== 'not_found') {
      onProblem(error)
      return undefined
    }
    const hostTime = wall()
    const { serviceTime = hostTime } = error
    return { source: 'get', serviceTime, hostTime, calls: [], notFound: [...ids], invalid: {} }
  }
}
