import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  map,
  merge,
  of,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { LedgerState } from '../ledger/state.ts'
import { horizon, type Observation, type Sighting } from '../ledger/step.ts'
import type { CallPage, CallsClient } from '../service/calls-client.ts'
import type { ServiceError } from '../service/service-error.ts'
import { attempt, type AttemptOptions, type RequestRecord } from './attempt.ts'
import { chooseFollowUps, followUps$, type AskedAt } from './follow-ups.ts'
import { inChunks } from './in-chunks.ts'
import { listing$, newLook, type Look } from './listing.ts'

/** How a cycle went, whether or not anything of it was committed. */
export type CycleReport = {
  outcome: 'complete' | 'partial' | 'failed'
  seconds: number
  requests: RequestRecord[]
  /** Requests left in the service's own limit, as it last said. */
  remaining: number | undefined
  /** What went wrong, in a sentence. */
  problem: string | undefined
  /** What went wrong came from the store, not from the service. */
  storeFailed: boolean
}

export type CycleOptions<Committed> = {
  clock: Clock
  client: CallsClient
  attempt: Omit<AttemptOptions, 'clock' | 'onRequest'>
  state: LedgerState
  /** Counts what was seen and commits it; resolves with what was committed, with undefined where nothing changed. */
  fold: (observation: Observation) => Promise<Committed | undefined>
  askedAt: AskedAt
  poll: PollOptions
  /** Ends the cycle early; what it has seen by then is committed. Must replay, as each stage of the cycle asks it. */
  abandon$: Observable<unknown>
}

/** From the configuration's `poll`, in seconds. */
export type PollOptions = { interval: number; lookback: number; sweepInterval: number; maxRequestsPerMinute: number }

export type CycleEvent<Committed> = { kind: 'committed'; committed: Committed } | { kind: 'cycle'; report: CycleReport }

/** Calls that one commit holds at most, a page more or less. */
const CHUNK = 1000

/**
 * One cycle of a target: list, count, ask for what the list did not show, count that. Emits what was committed as it is,
 * and at last a report. Never errors: whatever goes wrong is in the report, and changes no count.
 */
export function cycle$<Committed>(options: CycleOptions<Committed>): Observable<CycleEvent<Committed>> {
  const { clock, client, state, fold, askedAt, poll, abandon$ } = options
  return defer(() => {
    const begun = clock.monotonic()
    const look = newLook()
    const requests: RequestRecord[] = []
    let remaining: number | undefined
    let storeProblem: Error | undefined
    const asking: AttemptOptions = { ...options.attempt, clock, onRequest: (record) => void requests.push(record) }
    const deadline = begun + Math.max(30, 4 * poll.interval)
    const deadline$ = defer(() => merge(timer((deadline - clock.monotonic()) * 1000, clock.scheduler), abandon$))
    const limit = Math.max(5, Math.floor((poll.maxRequestsPerMinute * poll.interval) / 120))

    const fetchPage = (page: number) => attempt('list_calls', (signal) => client.listCalls(page, signal), asking)
    const fetchCall = (id: string) => attempt('get_call', (signal) => client.getCall(id, signal), asking)
    const noteProblem = (problem: ServiceError) => void (look.problem ??= problem)

    const listed$ = defer(() => listing$(look, horizon(state.facts, poll.lookback), fetchPage)).pipe(
      takeUntil(deadline$),
      inChunks<CallPage>(CHUNK, ({ items }) => items),
      concatMap((pages) => {
        remaining = pages.at(-1)?.remaining ?? remaining
        return fold({ sightings: pages.map(asSighting) })
      }),
    )
    const asked$ = defer(() => {
      if (look.pages === 0) return EMPTY
      const times = { now: look.now, monotonic: clock.monotonic() }
      const bounds = { limit, interval: poll.interval, longest: poll.sweepInterval }
      const calls = chooseFollowUps(state, look.listed, askedAt, times, bounds)
      const [control] = look.listed
      return followUps$(calls, control, fetchCall, clock.wall, noteProblem)
    }).pipe(
      takeUntil(deadline$),
      concatMap((sightings) => fold({ sightings })),
    )
    const concluded$ = defer(() => {
      if (!look.complete) return EMPTY
      const { now, host, listed } = look
      return fold({ sightings: [], complete: { began: look.began!, now, host, listed } })
    })
    const report$ = defer(() => {
      const outcome = storeProblem || look.pages === 0 ? 'failed' : look.complete ? 'complete' : 'partial'
      const problem = storeProblem?.message ?? look.problem?.message ?? (look.complete ? undefined : cutOff(look))
      const seconds = clock.monotonic() - begun
      const storeFailed = storeProblem !== undefined
      return of({ kind: 'cycle', report: { outcome, seconds, requests, remaining, problem, storeFailed } } as const)
    })
    return concat(
      concat(listed$, asked$, concluded$).pipe(
        catchError((error: Error) => {
          storeProblem = error
          return EMPTY
        }),
        asCommitted,
      ),
      report$,
    )
  })
}

/** Leaves out what changed nothing. */
export function asCommitted<Committed>(
  source: Observable<Committed | undefined>,
): Observable<{ kind: 'committed'; committed: Committed }> {
  return source.pipe(
    filter((committed) => committed !== undefined),
    map((committed) => ({ kind: 'committed', committed }) as const),
  )
}

function asSighting({ now, host, calls, rejected }: CallPage): Sighting {
  return { source: 'list', now, host, calls, notFound: [], rejected }
}

function cutOff({ pages, totalPages }: Look): string {
  if (pages === 0) return 'the cycle reached its deadline before the service answered'
  return `the cycle reached its deadline after ${pages} of ${totalPages ?? 'an unknown number of'} pages`
}
