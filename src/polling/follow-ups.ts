import { EmptyError, from, lastValueFrom, mergeMap, takeUntil, toArray } from 'rxjs'
import type { LedgerState } from '../ledger/state.ts'
import type { Answer } from '../ledger/observation.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { CallAnswer } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { whenAborted } from './abortable.ts'

/** Remembers when each call was last asked for, so that all have their turn. Times are monotonic seconds. */
export type AskedAt = Map<string, number>

export type FollowUpOptions = {
  /** The most calls to ask for. */
  limit: number
  /** Seconds between two polls, and the longest that an open call goes unasked. */
  interval: number
  longest: number
}

/** A path cannot hold these two: they would name another resource (RFC 3986 §5.2.4). */
const UNASKABLE = new Set(['.', '..'])
const CONCURRENT = 4

/**
 * The calls to ask for one by one: open ones that the listing did not show, and finished ones whose participants were
 * not listed. A call is asked for less often as it ages; who waits longest comes first.
 *
 * @param now the service's clock (UNIX seconds), for the calls' ages
 * @param monotonic for `askedAt`, which forgets calls that are no longer to be asked for
 */
export function chooseFollowUps(
  state: Pick<LedgerState, 'open' | 'detailsWanted'>,
  listed: ReadonlySet<string>,
  askedAt: AskedAt,
  { now, monotonic }: { now: number; monotonic: number },
  { limit, interval, longest }: FollowUpOptions,
): TrackedCall[] {
  for (const id of askedAt.keys()) if (!state.open.has(id) && !state.detailsWanted.has(id)) askedAt.delete(id)
  const isDue = (call: TrackedCall) => {
    const asked = askedAt.get(call.id)
    const pause = Math.min(longest, (now - beganAt(call)) / 20)
    // A timer may fire a little early: half an interval decides between this poll and the next.
    return asked === undefined || monotonic - asked >= pause - interval / 2
  }
  const unlisted = [...state.open.values()].filter(({ id }) => !listed.has(id))
  const chosen = [...unlisted, ...state.detailsWanted.values()]
    .filter((call) => !UNASKABLE.has(call.id) && isDue(call))
    .toSorted((a, b) => (askedAt.get(a.id) ?? -1) - (askedAt.get(b.id) ?? -1))
    .slice(0, limit)
  return chosen
}

export type AskOptions = {
  /** Rejects with a {@link ServiceError}, or with an `EmptyError` once nothing more is to be asked. */
  fetchCall: (id: string) => Promise<CallAnswer>
  /** Once it is, nothing more is asked; what was answered by then counts. */
  aborted: AbortSignal
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Gets each problem. */
  onProblem: (problem: ServiceError) => void
}

export type FollowUpsOptions = AskOptions & {
  /** Called where the target is at fault: it knows none of what it should know. */
  onDistrust: () => void
}

/**
 * Asks for calls one by one. Where more than half of at least five are unknown to the service, a call that it has just
 * listed is asked for as a control: if that is unknown too, the target is at fault and those answers are dropped.
 *
 * @param listed the ids that this poll listed
 * @returns what was seen
 */
export async function followUps(
  calls: readonly TrackedCall[],
  listed: ReadonlySet<string>,
  options: FollowUpsOptions,
): Promise<Answer[]> {
  const answers = await askAll(calls, options)
  const known = answers.filter(({ notFound }) => notFound.length === 0)
  const unknown = answers.length - known.length
  if (answers.length < 5 || unknown * 2 <= answers.length) return answers
  const control = [...listed].find((id) => !UNASKABLE.has(id))
  const result = control === undefined ? undefined : await ask(control, options)
  if (control !== undefined && result === undefined) return known
  if (result !== undefined && 'answer' in result && result.answer.calls.length > 0) return [...answers, result.answer]
  options.onDistrust()
  options.onProblem(new ServiceError('refused', `the service knows none of ${unknown} open calls: wrong user or app?`))
  return known
}

/** Asks for calls one by one, some at a time; what was seen. */
export async function askAll(calls: readonly TrackedCall[], options: AskOptions): Promise<Answer[]> {
  const results$ = from(calls.filter(({ id }) => !UNASKABLE.has(id))).pipe(
    takeUntil(whenAborted(options.aborted)),
    mergeMap(({ id }) => ask(id, options), CONCURRENT),
    toArray(),
  )
  const results = await lastValueFrom(results$)
  for (const result of results) if (result !== undefined && 'problem' in result) options.onProblem(result.problem)
  return results.flatMap((result) => (result !== undefined && 'answer' in result ? [result.answer] : []))
}

type AskResult = { answer: Answer } | { problem: ServiceError }

/** Undefined where nothing more is to be asked. */
async function ask(id: string, { fetchCall, wall }: AskOptions): Promise<AskResult | undefined> {
  try {
    const { call, now, host } = await fetchCall(id)
    return { answer: answerOf({ calls: call === undefined ? [] : [call], now, host }) }
  } catch (error) {
    if (error instanceof EmptyError) return undefined
    if (!(error instanceof ServiceError)) throw error
    if (error.kind !== 'not_found') return { problem: error }
    const host = wall()
    return { answer: answerOf({ notFound: [id], now: error.now ?? host, host }) }
  }
}

function answerOf(seen: Pick<Answer, 'now' | 'host'> & Partial<Answer>): Answer {
  return { source: 'get', calls: [], notFound: [], invalid: {}, ...seen }
}
