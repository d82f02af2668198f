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
  tap,
  throwError,
  toArray,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { NO_LIST_FACTS, type LedgerState } from '../ledger/state.ts'
import { horizon, type Observation, type Sighting } from '../ledger/step.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage, CallsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { StoreError } from '../store/store.ts'
import { activeTime } from './active-time.ts'
import { attempt, type AttemptOptions, type RequestRecord } from './attempt.ts'
import { AGREEING, followClock, settleClock, type ClockDifference } from './clock-difference.ts'
import { reportOf, type CycleReport } from './cycle-report.ts'
import { chooseFollowUps, askAll$, followUps$ } from './follow-ups.ts'
import { inChunks } from './in-chunks.ts'
import { forgetProgress } from './list-memory.ts'
import { ASKED_AGAIN, newLook, readList } from './look.ts'
import type { Look } from './page-reader.ts'
import { LONGEST_REBUILD, missingCalls, POLLS_TO_BELIEVE } from './shrunk-list.ts'
import type { WatchMemory } from './watch-memory.ts'

export type CycleOptions<Committed> = {
  clock: Clock
  client: CallsClient
  attempt: Omit<AttemptOptions, 'clock' | 'onRequest'>
  state: LedgerState
  /** Counts what was seen and commits it; resolves with what was committed, with undefined where nothing changed. */
  fold: (observation: Observation) => Promise<Committed | undefined>
  memory: WatchMemory
  poll: PollOptions
  /** Ends the cycle early; what it has seen by then is committed. Must replay, as each stage of the cycle asks it. */
  abandon$: Observable<unknown>
}

/** From the configuration's `poll`, in seconds. */
export type PollOptions = {
  interval: number
  lookback: number
  sweepInterval: number
  maxRequestsPerMinute: number
  /** Calls asked for in one page. */
  pageSize: number
}

export type CycleEvent<Committed> = { kind: 'committed'; committed: Committed } | { kind: 'cycle'; report: CycleReport }

/** Calls that one commit holds at most, a page more or less. */
const CHUNK = 500

/**
 * One cycle of a target: read the list, count, ask for what the list did not show, count that. Emits what was committed
 * as it is, and at last a report. What goes wrong with service or store is in the report, and changes no count; errors only
 * with what is neither: a mistake of our own.
 */
export function cycle$<Committed>(options: CycleOptions<Committed>): Observable<CycleEvent<Committed>> {
  const { clock, poll, abandon$ } = options
  return defer(() => {
    const longest = Math.max(30, 4 * poll.interval)
    // Waiting for the rate limit is no reason to end it: the next poll would wait as well. A long Retry-After is.
    const active = activeTime(options.attempt.budget, clock)
    const attempt = { ...options.attempt, budget: active.budget }
    // One timer a cycle, whoever asks: each of its stages and requests does.
    return merge(active.after$(longest), abandon$).pipe(
      take(1),
      connect((deadline$) => stages$({ ...options, attempt }, { longest, passed: active.passed, deadline$ }), {
        connector: () => new ReplaySubject(1),
      }),
    )
  })
}

/** The stages of one cycle, one after the other; `deadline$` emits when no more is to be asked, after `longest` seconds at the latest. */
function stages$<Committed>(
  options: CycleOptions<Committed>,
  { longest, passed, deadline$ }: { longest: number; passed: () => number; deadline$: Observable<unknown> },
): Observable<CycleEvent<Committed>> {
  const { clock, client, state, fold, poll } = options
  const { list: memory, askedAt, backward } = options.memory
  return defer(() => {
    const begun = clock.monotonic()
    const look = newLook()
    const requests: RequestRecord[] = []
    let remaining: number | undefined
    let storeProblem: Error | undefined
    const asking: AttemptOptions = { ...options.attempt, clock, onRequest: (record) => void requests.push(record) }
    /** Whether an answer of this poll has said that one of the clocks made a step. */
    let hasStepped = false
    /** Refuses an answer whose clock is an hour or more from where it was, until it is settled which is right. */
    const checkClock = ({ now, host, isUndated }: Pick<CallPage, 'now' | 'host' | 'isUndated'>): void => {
      const skew = state.facts.clockSkew
      if (skew === undefined || isUndated === true) return
      const { clock: next, isBelieved } = followClock(options.memory.clock, now - host, { skew, isCounted: hasStepped })
      options.memory.clock = next
      hasStepped ||= !isBelieved
      if (!isBelieved) throw unsettled(next)
    }
    /** The first page that was fetched to see the service's clock, and is still to be read. */
    let fetched: CallPage | undefined
    const fetchPage = (page: number, once = false): Promise<CallPage> => {
      const first = page === 1 ? fetched : undefined
      fetched = undefined
      if (first !== undefined) return Promise.resolve(first)
      const requests$ = attempt('list_calls', (signal) => client.listCalls(page, signal), {
        ...asking,
        retries: once ? 0 : asking.retries,
      })
      return firstValueFrom(
        requests$.pipe(
          tap((answer) => checkClock(answer)),
          takeUntil(deadline$),
        ),
      )
    }
    const fetchCall = (id: string) =>
      defer(() => {
        askedAt.set(id, clock.monotonic())
        return attempt('get_call', (signal) => client.getCall(id, signal), asking).pipe(
          tap((answer) => checkClock(answer)),
          tap(() => backward.answered(id)),
        )
      })
    const dueCalls = (limit: number) => {
      const times = { now: look.now, monotonic: clock.monotonic() }
      return chooseFollowUps(state, look.listed, askedAt, times, {
        limit,
        interval: poll.interval,
        longest: poll.sweepInterval,
      })
    }
    /** Learns the service's clock from the first page, once a poll until it is settled; whether it is. */
    const settle = async (): Promise<boolean> => {
      if (state.facts.clockSkew !== undefined) return true
      fetched = await fetchPage(1)
      look.pages = 1
      const difference = fetched.isUndated === true ? undefined : fetched.now - fetched.host
      options.memory.clock = settleClock(options.memory.clock, difference)
      return options.memory.clock.settled !== undefined
    }
    const noteProblem = (problem: ServiceError) => void (look.problem ??= problem)
    // Half of what may be asked for in an interval is for a sweep, the other half for calls that were not listed.
    const half = Math.max(1, Math.floor((poll.maxRequestsPerMinute * poll.interval) / 120))

    backward.begin()
    const listed$ = defer(() => {
      const held = asking.budget.heldFor()
      if (held > longest) return throwError(() => heldBack(held))
      return settle()
    }).pipe(
      mergeMap((isSettled) => {
        if (!isSettled) return throwError(() => unsettled(options.memory.clock))
        look.pages = 0
        return readList(look, {
          memory,
          state,
          clock,
          horizon: horizon(state.facts, poll.lookback),
          sweepInterval: poll.sweepInterval,
          slice: half,
          interval: poll.interval,
          wanted: () => dueCalls(Infinity),
          passed,
          pageSize: poll.pageSize,
          fetchPage,
        })
      }),
      catchError((error: unknown) => {
        const held = asking.budget.heldFor()
        if (error instanceof EmptyError && held > longest) noteProblem(heldBack(held))
        else if (error instanceof EmptyError) noteProblem(cutOff(look, passed() < longest - 1e-3))
        else if (error instanceof ServiceError) noteProblem(error)
        else throw error
        return EMPTY
      }),
      inChunks<CallPage>(CHUNK, ({ items }) => items),
      concatMap((pages) => {
        const asSighting = ({ now, host, calls, rejected }: CallPage): Sighting => {
          return { source: 'list', now, host, calls: backward.withhold(calls, state), notFound: [], rejected }
        }
        remaining = pages.at(-1)?.remaining ?? remaining
        backward.committed()
        return fold({ sightings: pages.map(asSighting), clockSkew: options.memory.clock.settled })
      }),
    )
    // A list that has shrunk is believed once the calls that it lacks are unknown as well, or it stays so for long.
    const weigh = (answers: Sighting[], missing: readonly TrackedCall[]): Sighting[] => {
      if (look.end === undefined) return answers
      const unknown = answers.filter(({ notFound }) => missing.some(({ id }) => notFound.includes(id))).length
      memory.shrunk = missing.length > 0 && unknown === missing.length ? memory.shrunk + 1 : 0
      memory.shrunkSince = missing.length === 0 ? undefined : (memory.shrunkSince ?? clock.monotonic())
      const lasts = clock.monotonic() - (memory.shrunkSince ?? Infinity)
      if (missing.length > 0 && memory.shrunk < POLLS_TO_BELIEVE && lasts < Math.max(LONGEST_REBUILD, poll.lookback)) {
        noteProblem(shrunkList(look, memory.shrunk > 0))
        look.end = undefined
        // The next poll is to see the list as a whole as well.
        memory.unexplained = Math.max(memory.unexplained, ASKED_AGAIN)
      }
      return answers
    }
    const asked$ = defer(() => {
      if (look.pages === 0 || state.facts.clockSkew === undefined) return EMPTY
      const limit = Math.max(5, half)
      const doubtful = backward.doubtful(state).slice(0, limit)
      const due = [...doubtful, ...dueCalls(limit).filter((call) => !doubtful.some(({ id }) => id === call.id))]
      const missing = missingCalls(look, state)
      const others = missing.filter((call) => !due.some(({ id }) => id === call.id))
      const once = { fetchCall, until$: deadline$, wall: clock.wall, onProblem: noteProblem }
      const onDistrust = () => {
        look.end = undefined
        forgetProgress(memory)
      }
      return concat(followUps$(due, look.listed, { ...once, onDistrust }), askAll$(others, once)).pipe(
        toArray(),
        map((sightings) => weigh(sightings.flat(), missing)),
      )
    })
    const concluded$ = asked$.pipe(
      defaultIfEmpty([]),
      concatMap((sightings) => {
        // A call that was seen after the list was read may have ended after that.
        for (const { now } of sightings) look.now = Math.max(look.now, now)
        const end = look.end && { ...look.end, now: look.now, limited: look.limited }
        if (end !== undefined && look.size !== undefined && look.size !== memory.facts.size)
          memory.facts = { ...memory.facts, size: look.size }
        const isListed = state.facts.clockSkew !== undefined && memory.facts !== (state.facts.listing ?? NO_LIST_FACTS)
        const listing = isListed ? { listing: memory.facts } : {}
        return from(sightings).pipe(
          inChunks(CHUNK, () => 1),
          toArray(),
          mergeMap((parts): Observation[] => {
            const last = parts.pop() ?? []
            const isNothing = end === undefined && last.length === 0 && !isListed
            return [
              ...parts.map((part) => ({ sightings: part })),
              ...(isNothing ? [] : [{ sightings: last, ...listing, ...(end && { end }) }]),
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
        catchError((error: unknown) => {
          if (!(error instanceof StoreError)) throw error
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

/** Why a list that has shrunk is not believed. */
function shrunkList({ size = 0 }: Look, areUnknown: boolean): ServiceError {
  const listed = size === 0 ? 'an empty list' : `only ${size} calls`
  const why = areUnknown
    ? 'the calls that are missing are unknown as well: the next poll will tell'
    : 'the calls that are missing still exist: is its index being rebuilt?'
  return new ServiceError('invalid', `the service shows ${listed}, much less than before, though ${why}`)
}

function unsettled({ all, agreeing, undated }: ClockDifference): ServiceError {
  const minutes = Math.round((all.at(-1) ?? 0) / 60)
  const problem =
    all.length === 0
      ? `the service's answers show no Date: this host's clock is taken for the service's after ${AGREEING} of them (${undated} so far)`
      : `the service's clock and this host's differ by ${minutes} minutes, as its Date header has it: nothing is counted ` +
        `before ${AGREEING} answers in a row agree (${agreeing.length} so far); check this host's clock`
  return new ServiceError('invalid', problem)
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
