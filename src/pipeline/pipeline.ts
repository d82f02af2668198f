import {
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  from,
  map,
  merge,
  mergeMap,
  of,
  share,
  takeUntil,
  takeWhile,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import { sessionOf } from '../ledger/identity.ts'
import type { SyncState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { possiblyEvicted } from '../ledger/delta/compute-delta.ts'
import type { Observation } from '../ledger/observation.ts'
import { requestHinted } from '../polling/hinted-request.ts'
import { observe, type ObserveOptions } from '../polling/observe.ts'
import { AbortedError } from '../rx/abortable.ts'
import { exclusive, type ExclusiveJob } from '../rx/exclusive.ts'
import { fromGenerator } from '../rx/from-generator.ts'
import type { PollReport, SingleCalls } from '../polling/poll-report.ts'
import type { RequestRecord } from '../polling/request-with-retries.ts'
import { onlyStoreErrors, StoreError } from '../store/store-error.ts'
import { apply, commit, type Committed } from './commit.ts'
import { decide, decideTick } from './decide.ts'
import { readEarlierCalls } from './earlier-calls.ts'
import { readUsualCalls } from './usual-calls.ts'
import { callsOf, type HintQueue } from './hint-queue.ts'
import type { Health } from './health.ts'
import { hostOpened, type Target } from './target.ts'

/**
 * Runs the polls of a target on schedule. At the same times, a tick evaluates the rules that depend on time alone.
 *
 *     due$ → observe → decide → commit → apply → polled
 *               ▲                            │
 *               └───── next observation ─────┘
 *
 * Hints of the service's webhooks cause hinted requests between the polls: a Get Call, or a poll more. None of them overlap.
 *
 * Completes when it is draining and the last poll has ended, or when the target must be loaded again. Errors only after a bug.
 */
export function pipeline(options: PipelineOptions): Observable<PipelineEvent> {
  const { target, hints, offset, draining$ } = options
  const { settings, clock } = target
  const due$ = timer(offset * 1000, settings.poll.interval * 1000, clock.scheduler).pipe(takeUntil(draining$), share())
  const ticks$ = due$.pipe(exhaustMap(() => ticked(target)))
  const polls$ = due$.pipe(map(() => pollOf(options)))
  const hinted$ = hints.due$.pipe(
    takeUntil(draining$),
    map(() => hintedOf(options)),
  )
  return merge(ticks$, merge(polls$, hinted$).pipe(exclusive(draining$))).pipe(
    takeWhile(({ kind }) => kind !== 'polled' || !target.lastCommitUnknown, true),
  )
}

function pollOf(options: PipelineOptions): ExclusiveJob<PipelineEvent> {
  return {
    kind: 'poll',
    run$: fromGenerator((...state) => runPoll(options, ...state), options.aborted$),
    skipped$: of({ kind: 'skipped', target: options.target.name }),
  }
}

function hintedOf(options: PipelineOptions): ExclusiveJob<PipelineEvent> {
  const { target, hints, aborted$ } = options
  const run$ = defer(() => {
    if (!isReady(target)) {
      hints.postpone(Math.max(RECHECK_SECONDS, target.rateLimiter.pausedFor()))
      return EMPTY
    }
    const sessions = hints.takeDue(target.ledger)
    let requestCount = 0
    return fromGenerator((...state) => runHinted(options, sessions, ...state), aborted$).pipe(
      tap((event) => {
        if (event.kind === 'polled') requestCount = event.report.requests.length
        if (event.kind === 'hinted') requestCount = event.requests.length
      }),
      finalize(() => hints.requested(sessions, target.ledger, requestCount)),
    )
  })
  return { kind: 'hinted', run$ }
}

/** While no hinted request is possible, this is checked so often (seconds). */
const RECHECK_SECONDS = 0.5

/** Whether hinted requests are possible: polls succeed, and the rate limit has requests to spare. */
function isReady({ record, rateLimiter }: Target): boolean {
  return record.current().successful && rateLimiter.hasSpare()
}

/** An event of a target that this process polls. */
export type PipelineEvent =
  | { kind: 'committed'; committed: Committed }
  /** A poll has ended; `before` is how the target was doing until then. */
  | { kind: 'polled'; target: string; report: PollReport; before: Health; sync: SyncState }
  /** The requests for a call that a hint named have ended. */
  | { kind: 'hinted'; target: string; requests: readonly RequestRecord[]; singleCalls: SingleCalls }
  /** A poll was due while the previous one was still running. */
  | { kind: 'skipped'; target: string }

export type PipelineOptions = Pick<ObserveOptions, 'client' | 'random'> & {
  target: Target
  /** The hints of the service's webhooks. */
  hints: HintQueue
  /** Seconds until the first poll, so that many targets do not all send requests at once. */
  offset: number
  /** Emits when no new poll may begin. */
  draining$: Observable<unknown>
  /** Emits when the running poll must end. What it has seen by then is committed. */
  aborted$: Observable<unknown>
  /** Removes secrets from texts of the service. */
  mask: (text: string) => string
}

type RunOptions = Pick<PipelineOptions, 'target' | 'client' | 'random' | 'mask'>

function observeOptions({ target, client, random }: RunOptions) {
  const { clock, ledger, memory, settings, rateLimiter } = target
  return { clock, client, rateLimiter, random, ledger, memory, settings: settings.poll }
}

/**
 * Requests calls that hints named: by a Get Call for one tracked call, otherwise by a poll. If it fails, the next poll finds what has
 * changed.
 */
async function* runHinted(
  options: RunOptions,
  sessions: readonly string[],
  ...state: [aborted: AbortSignal, isUnsubscribed?: () => boolean]
): AsyncGenerator<PipelineEvent, void> {
  if (sessions.length === 0) return
  const { ledger, settings } = options.target
  const known = sessions.flatMap((session) => callsOf(session, settings.target, ledger))
  const open = known.find(({ phase }) => phase === 'open')
  if (open !== undefined && sessions.length === 1) yield* requestCall(options, open, ...state)
  else yield* runPoll({ ...options, hinted: new Set(known.map(sessionOf)) }, ...state)
}

async function* requestCall(
  options: RunOptions,
  call: TrackedCall,
  aborted: AbortSignal,
  isUnsubscribed = () => false,
): AsyncGenerator<PipelineEvent, void> {
  const { target, mask } = options
  try {
    const hinted = await requestHinted(call, { ...observeOptions(options), mask }, aborted)
    if (isUnsubscribed()) return
    const { answers, requests, singleCalls } = hinted
    target.record.addHinted(requests.length, singleCalls.problem)
    yield { kind: 'hinted', target: target.name, requests, singleCalls }
    const committed = await commitObservation(target, { answers })
    if (committed !== undefined) yield { kind: 'committed', committed }
  } catch (error) {
    if (!(error instanceof AbortedError || error instanceof StoreError)) throw error
  }
}

/**
 * Runs one poll. Each observation is committed before the next one is requested.
 *
 * @param options with `hinted`, the poll is for the open calls of these sessions
 */
export async function* runPoll(
  { hinted, ...options }: RunOptions & { hinted?: ReadonlySet<string> },
  aborted: AbortSignal,
  isUnsubscribed = () => false,
): AsyncGenerator<PipelineEvent, void> {
  const { target, mask } = options
  const { ledger, record } = target
  const observations = observe({ ...observeOptions(options), hinted }, aborted)
  let next = await observations.next()
  while (next.done !== true) {
    if (isUnsubscribed()) return
    try {
      const committed = await commitObservation(target, next.value)
      if (committed !== undefined) yield { kind: 'committed', committed }
      next = await observations.next()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      next = await observations.throw(error)
    }
  }
  if (isUnsubscribed()) return
  const { problem, singleCalls } = next.value
  const masked = singleCalls && {
    singleCalls: { ...singleCalls, problem: singleCalls.problem && mask(singleCalls.problem) },
  }
  const report = { ...next.value, problem: problem && mask(problem), ...masked }
  const before = record.current()
  record.add(report)
  yield { kind: 'polled', target: target.name, report, before, sync: ledger.sync }
}

/**
 * Decides, commits and applies an observation; undefined if it changed nothing.
 *
 * @throws {StoreError} and then nothing was applied
 */
export function commitObservation(target: Target, observed: Observation): Promise<Committed | undefined> {
  return target.runExclusive(async () => {
    const { name, ledger, settings, store, clock } = target
    const observation = { ...observed, opened: hostOpened(target) }
    const sessions = possiblyEvicted(ledger, observation, settings.poll)
    const evicted = sessions.length === 0 ? undefined : await store.evictedCalls(name, sessions)
    if (observation.success !== undefined) {
      await readEarlierCalls(target, observation.success)
      const { serviceTime: now } = observation.success
      await readUsualCalls(target, { now, previousSuccess: ledger.sync.lastSuccess })
    }
    const decision = decide(target, observation, evicted, clock.wall())
    return decision && apply(target, await commit(target, decision), observation.success)
  })
}

/** A tick; if its commit fails, the next one repeats the work. The poll reports the store's failure. */
function ticked(target: Target): Observable<PipelineEvent> {
  return from(tick(target).catch(onlyStoreErrors(undefined))).pipe(
    mergeMap((committed): PipelineEvent[] => (committed === undefined ? [] : [{ kind: 'committed', committed }])),
  )
}

/**
 * Evaluates the rules that depend on time alone; undefined if that changed nothing.
 *
 * @throws {StoreError} and then nothing was applied
 */
export function tick(target: Target): Promise<Committed | undefined> {
  return target.runExclusive(async () => {
    const { times, clock, record, pollAge, recent } = target
    const polls = { pollAge: pollAge(), cause: record.current().problem, recent }
    const isDue = clock.monotonic() >= times.awaited
    const { worst, decision } = isDue ? decideTick(target, polls, clock.wall()) : {}
    if (worst !== undefined) target.values.note(worst, clock.wall())
    const committed = decision && apply(target, await commit(target, decision))
    times.evaluated = clock.monotonic()
    return committed
  })
}
