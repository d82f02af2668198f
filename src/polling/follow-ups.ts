import { catchError, concatMap, defer, EMPTY, from, map, mergeMap, of, toArray, type Observable } from 'rxjs'
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
 * @param monotonic for `askedAt`, which is brought up to date
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
  for (const { id } of chosen) askedAt.set(id, monotonic)
  return chosen
}

type Answer = { id: string; sighting: Sighting } | { id: string; problem: ServiceError }

/**
 * Asks for calls one by one. Where more than half of at least five are unknown to the service, a call that it has just
 * listed is asked for as a control: if that is unknown too, the target is at fault and those answers are dropped.
 *
 * @param control an id that this cycle listed; undefined if there was none
 * @returns emits what was seen, once; `onProblem` is told what could not be asked
 */
export function followUps$(
  calls: readonly TrackedCall[],
  control: string | undefined,
  fetchCall: (id: string) => Observable<CallAnswer>,
  host: () => number,
  onProblem: (problem: ServiceError) => void,
): Observable<Sighting[]> {
  const ask = (id: string): Observable<Answer> =>
    fetchCall(id).pipe(
      map(({ call, now, host }): Answer => ({
        id,
        sighting: { source: 'get', now, host, calls: call === undefined ? [] : [call], notFound: [], rejected: {} },
      })),
      catchError((error: ServiceError) =>
        of<Answer>(
          error.kind === 'not_found'
            ? {
                id,
                sighting: {
                  source: 'get',
                  now: error.now ?? host(),
                  host: host(),
                  calls: [],
                  notFound: [id],
                  rejected: {},
                },
              }
            : { id, problem: error },
        ),
      ),
    )
  if (calls.length === 0) return EMPTY
  return from(calls).pipe(
    mergeMap(({ id }) => ask(id), CONCURRENT),
    toArray(),
    concatMap((answers) => {
      const sightings: Sighting[] = []
      for (const answer of answers) {
        if ('problem' in answer) onProblem(answer.problem)
        else sightings.push(answer.sighting)
      }
      const unknown = sightings.filter(({ notFound }) => notFound.length > 0)
      if (answers.length < 5 || unknown.length * 2 <= answers.length) return of(sightings)
      const distrusted = () => {
        onProblem(
          new ServiceError(
            'refused',
            `the service knows none of ${unknown.length} open calls, nor one that it lists: wrong user or app?`,
          ),
        )
        return sightings.filter(({ notFound }) => notFound.length === 0)
      }
      if (control === undefined) return of(distrusted())
      return defer(() => ask(control)).pipe(
        map((answer) => ('sighting' in answer && answer.sighting.calls.length > 0 ? sightings : distrusted())),
      )
    }),
  )
}
