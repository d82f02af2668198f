import {
  catchError,
  concatMap,
  defaultIfEmpty,
  EMPTY,
  from,
  map,
  mergeMap,
  of,
  takeUntil,
  toArray,
  type Observable,
} from 'rxjs'
import type { LedgerState } from '../ledger/state.ts'
import type { Sighting } from '../ledger/step.ts'
import { beganAt, type TrackedCall } from '../ledger/tracked-call.ts'
import type { CallAnswer } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'

/** Remembers when each call was last asked for, so that all have their turn. Times are monotonic seconds. */
export type AskedAt = Map<string, number>

export type FollowUpOptions = {
  /** The most calls to ask for. */
  limit: number
  /** Seconds between two cycles, and the longest that an open call goes unasked. */
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
    // A timer may fire a little early: half an interval decides between this cycle and the next.
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
  /** Errors with a {@link ServiceError}. */
  fetchCall: (id: string) => Observable<CallAnswer>
  /** Emits when no more is to be asked; what was answered by then counts. Must replay. */
  until$: Observable<unknown>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Told what could not be asked. */
  onProblem: (problem: ServiceError) => void
}

export type FollowUpsOptions = AskOptions & {
  /** Told that the target is at fault: it knows none of what it should know. */
  onDistrust: () => void
}

/**
 * Asks for calls one by one. Where more than half of at least five are unknown to the service, a call that it has just
 * listed is asked for as a control: if that is unknown too, the target is at fault and those answers are dropped.
 *
 * @param listed the ids that this cycle listed
 * @returns emits what was seen, once
 */
export function followUps$(
  calls: readonly TrackedCall[],
  listed: ReadonlySet<string>,
  options: FollowUpsOptions,
): Observable<Sighting[]> {
  if (calls.length === 0) return EMPTY
  const { onProblem, onDistrust } = options
  return askAll$(calls, options).pipe(
    concatMap((sightings) => {
      const known = sightings.filter(({ notFound }) => notFound.length === 0)
      const unknown = sightings.length - known.length
      if (sightings.length < 5 || unknown * 2 <= sightings.length) return of(sightings)
      const distrusted = () => {
        onDistrust()
        onProblem(new ServiceError('refused', `the service knows none of ${unknown} open calls: wrong user or app?`))
        return known
      }
      const control = [...listed].find((id) => !UNASKABLE.has(id))
      if (control === undefined) return of(distrusted())
      return ask$(control, options).pipe(
        map((answer) =>
          'sighting' in answer && answer.sighting.calls.length > 0 ? [...sightings, answer.sighting] : distrusted(),
        ),
        defaultIfEmpty(known),
      )
    }),
  )
}

/** Asks for calls one by one, some at a time; emits what was seen, once. */
export function askAll$(calls: readonly TrackedCall[], options: AskOptions): Observable<Sighting[]> {
  return from(calls.filter(({ id }) => !UNASKABLE.has(id))).pipe(
    takeUntil(options.until$),
    mergeMap(({ id }) => ask$(id, options), CONCURRENT),
    toArray(),
    map((answers) => {
      for (const answer of answers) if ('problem' in answer) options.onProblem(answer.problem)
      return answers.flatMap((answer) => ('sighting' in answer ? [answer.sighting] : []))
    }),
  )
}

function ask$(id: string, { fetchCall, until$, wall }: AskOptions): Observable<Answer> {
  return fetchCall(id).pipe(
    map(({ call, now, host }): Answer => ({
      sighting: sightingOf({ calls: call === undefined ? [] : [call], now, host }),
    })),
    catchError((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
      if (error.kind !== 'not_found') return of<Answer>({ problem: error })
      const host = wall()
      return of<Answer>({ sighting: sightingOf({ notFound: [id], now: error.now ?? host, host }) })
    }),
    takeUntil(until$),
  )
}

type Answer = { sighting: Sighting } | { problem: ServiceError }

function sightingOf(seen: Pick<Sighting, 'now' | 'host'> & Partial<Sighting>): Sighting {
  return { source: 'get', calls: [], notFound: [], rejected: {}, ...seen }
}
