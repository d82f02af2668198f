import {
  catchError,
  concat,
  concatMap,
  connect,
  defaultIfEmpty,
  defer,
  EMPTY,
  EmptyError,
  filter,
  firstValueFrom,
  from,
  map,
  merge,
  mergeMap,
  of,
  ReplaySubject,
  take,
  takeUntil,
  throwError,
  timer,
  toArray,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { LedgerState } from '../ledger/state.ts'
import { horizon, type Observation, type Sighting } from '../ledger/step.ts'
import type { CallPage, CallsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { attempt, type AttemptOptions, type RequestRecord } from './attempt.ts'
import { reportOf, type CycleReport } from './cycle-report.ts'
import { chooseFollowUps, followUps$, type AskedAt } from './follow-ups.ts'
import { inChunks } from './in-chunks.ts'
import { forgetProgress, type ListMemory } from './list-memory.ts'
import { newLook, readList } from './look.ts'
import type { Look } from './page-reader.ts'

export type CycleOptions<Committed> = {
  clock: Clock
  client: CallsClient
  attempt: Omit<AttemptOptions, 'clock' | 'onRequest'>
  state: LedgerState
  /** Counts what was seen and commits it; resolves with what was committed, with undefined where nothing changed. */
  fold: (observation: Observation) => Promise<Committed | undefined>
  memory: ListMemory
  askedAt: AskedAt
  poll: PollOptions
  /** Ends the cycle early; what it has seen by then is committed. Must replay, as each stage of the cycle asks it. */
  abandon$: Observable<unknown>
}

/** From the configuration's `poll`, in seconds. */
export type PollOptions = { interval: number; lookback: number; sweepInterval: number; maxRequestsPerMinute: number }

export type CycleEvent<Committed> = { kind: 'committed'; committed: Committed } | { kind: 'cycle'; report: CycleReport }

/** Calls that one commit holds at most, a page more or less. */
const CHUNK = 500

/**
 * One cycle of a target: read the list, count, ask for what the list did not show, count that. Emits what was committed
 * as it is, and at last a report. Never errors: whatever goes wrong is in the report, and changes no count.
 */
export function cycle$<Committed>(options: CycleOptions<Committed>): Observable<CycleEvent<Committed>> {
  const { clock, poll, abandon$ } = options
  return defer(() => {
    const longest = Math.max(30, 4 * poll.interval)
    // One timer a cycle, whoever asks: each of its stages and requests does.
    return merge(timer(longest * 1000, clock.scheduler), abandon$).pipe(
      take(1),
      connect((deadline$) => stages$(options, { deadline: clock.monotonic() + longest, deadline$ }), {
        connector: () => new ReplaySubject(1),
      }),
    )
  })
}

/** The stages of one cycle, one after the other; `deadline$` emits when no more is to be asked, at `deadline` (monotonic seconds) at the latest. */
function stages$<Committed>(
  options: CycleOptions<Committed>,
  { deadline, deadline$ }: { deadline: number; deadline$: Observable<unknown> },
): Observable<CycleEvent<Committed>> {
  const { clock, client, state, fold, memory, askedAt, poll } = options
  return defer(() => {
    const begun = clock.monotonic()
    const look = newLook()
    const requests: RequestRecord[] = []
    let remaining: number | undefined
    let storeProblem: Error | undefined
    const asking: AttemptOptions = { ...options.attempt, clock, onRequest: (record) => void requests.push(record) }
    const fetchPage = (page: number) =>
      firstValueFrom(
        attempt('list_calls', (signal) => client.listCalls(page, signal), asking).pipe(takeUntil(deadline$)),
      )
    const fetchCall = (id: string) =>
      defer(() => {
        askedAt.set(id, clock.monotonic())
        return attempt('get_call', (signal) => client.getCall(id, signal), asking)
      })
    const dueCalls = (limit: number) => {
      const times = { now: look.now, monotonic: clock.monotonic() }
      return chooseFollowUps(state, look.listed, askedAt, times, {
        limit,
        interval: poll.interval,
        longest: poll.sweepInterval,
      })
    }
    const noteProblem = (problem: ServiceError) => void (look.problem ??= problem)
    // Half of what may be asked for in an interval is for a sweep, the other half for calls that were not listed.
    const half = Math.max(1, Math.floor((poll.maxRequestsPerMinute * poll.interval) / 120))

    const listed$ = defer(() => {
      const held = asking.budget.heldFor()
      if (clock.monotonic() + held > deadline) return throwError(() => heldBack(held))
      return readList(look, {
        memory,
        state,
        clock,
        horizon: horizon(state.facts, poll.lookback),
        sweepInterval: poll.sweepInterval,
        slice: half,
        interval: poll.interval,
        wanted: () => dueCalls(Infinity),
        fetchPage,
      })
    }).pipe(
      catchError((error: unknown) => {
        if (error instanceof EmptyError) noteProblem(cutOff(look, clock.monotonic() < deadline))
        else if (error instanceof ServiceError) noteProblem(error)
        else throw error
        return EMPTY
      }),
      inChunks<CallPage>(CHUNK, ({ items }) => items),
      concatMap((pages) => {
        remaining = pages.at(-1)?.remaining ?? remaining
        return fold({ sightings: pages.map(asSighting) })
      }),
    )
    const asked$ = defer(() => {
      if (look.pages === 0) return EMPTY
      return followUps$(dueCalls(Math.max(5, half)), look.listed, {
        fetchCall,
        until$: deadline$,
        wall: clock.wall,
        onProblem: noteProblem,
        onDistrust: () => {
          look.end = undefined
          forgetProgress(memory)
        },
      })
    })
    const concluded$ = asked$.pipe(
      defaultIfEmpty([]),
      concatMap((sightings) => {
        // A call that was seen after the list was read may have ended after that.
        for (const { now } of sightings) look.now = Math.max(look.now, now)
        const end = look.end && { ...look.end, now: look.now, limited: look.limited }
        return from(sightings).pipe(
          inChunks(CHUNK, () => 1),
          toArray(),
          mergeMap((parts): Observation[] => {
            const last = parts.pop() ?? []
            const isNothing = end === undefined && last.length === 0
            return [
              ...parts.map((part) => ({ sightings: part })),
              ...(isNothing ? [] : [{ sightings: last, ...(end && { end }) }]),
            ]
          }),
        )
      }),
      concatMap(fold),
    )
    const report$ = defer(() => {
      const seconds = clock.monotonic() - begun
      const report = reportOf({ look, memory, poll, slice: half, storeProblem }, { seconds, requests, remaining })
      return of({ kind: 'cycle', report } as const)
    })
    return concat(
      concat(listed$, concluded$).pipe(
        catchError((error: Error) => {
          storeProblem = error
          // What was read but not committed must be read again.
          forgetProgress(memory)
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

function heldBack(seconds: number): ServiceError {
  const wait = Math.ceil(seconds)
  return new ServiceError('rate_limited', `the service asked to wait (Retry-After): no request for another ${wait} s`)
}

/** @param early whether it was let go of before its deadline */
function cutOff({ pages }: Look, early: boolean): ServiceError {
  const read = pages === 0 ? 'before the service answered' : `after ${pages} ${pages === 1 ? 'page' : 'pages'}`
  const what = early ? 'was ended early (the target is let go of, or this daemon stops)' : 'reached its deadline'
  return new ServiceError('timeout', `the cycle ${what} ${read}`)
}
