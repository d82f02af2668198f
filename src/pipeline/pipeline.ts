import {
  connect,
  exhaustMap,
  finalize,
  from,
  merge,
  mergeMap,
  of,
  takeUntil,
  takeWhile,
  timer,
  type Observable,
} from 'rxjs'
import type { SyncState } from '../ledger/state.ts'
import { possiblyEvictedIds } from '../ledger/delta/compute-delta.ts'
import type { Observation } from '../ledger/observation.ts'
import { observe } from '../polling/observe.ts'
import type { PollReport } from '../polling/poll-report.ts'
import type { CallsClient } from '../service/calls-client.ts'
import { onlyStoreErrors, StoreError } from '../store/store-error.ts'
import { apply, commit, type Committed } from './commit.ts'
import { decide, decideTick } from './decide.ts'
import { fromGenerator } from './from-generator.ts'
import type { Health } from './health.ts'
import type { Target } from './target.ts'

/**
 * Runs the polls of a target on schedule. At the same times, a tick evaluates the rules that depend on time alone.
 *
 *     due$ → observe → decide → commit → apply → polled
 *               ▲                            │
 *               └───── next observation ─────┘
 *
 * Completes when it is draining and the last poll has ended, or when the target must be loaded again. Errors only after a bug.
 */
export function pipeline(options: PipelineOptions): Observable<PipelineEvent> {
  const { target, offset, draining$, aborted$ } = options
  const { name, settings, clock } = target
  let isPolling = false
  const polled = (): Observable<PipelineEvent> => {
    if (isPolling) return of({ kind: 'skipped', target: name })
    isPolling = true
    const poll$ = fromGenerator((...state) => runPoll(options, ...state), aborted$)
    return poll$.pipe(finalize(() => (isPolling = false)))
  }
  return timer(offset * 1000, settings.poll.interval * 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    connect((due$) => merge(due$.pipe(exhaustMap(() => ticked(target))), due$.pipe(mergeMap(polled)))),
    takeWhile(({ kind }) => kind !== 'polled' || !target.lastCommitUnknown, true),
  )
}

/** An event of a target that this process polls. */
export type PipelineEvent =
  | { kind: 'committed'; committed: Committed }
  /** A poll has ended; `before` is how the target was doing until then. */
  | { kind: 'polled'; target: string; report: PollReport; before: Health; sync: SyncState }
  /** A poll was due while the previous one was still running. */
  | { kind: 'skipped'; target: string }

export type PipelineOptions = {
  target: Target
  client: CallsClient
  /** A random number from 0 to 1. */
  random: () => number
  /** Seconds until the first poll, so that many targets do not all send requests at once. */
  offset: number
  /** Emits when no new poll may begin. */
  draining$: Observable<unknown>
  /** Emits when the running poll must end. What it has seen by then is committed. */
  aborted$: Observable<unknown>
  /** Removes secrets from texts of the service. */
  mask: (text: string) => string
}

/** Runs one poll. Each observation is committed before the next one is requested. */
export async function* runPoll(
  { target, client, random, mask }: Pick<PipelineOptions, 'target' | 'client' | 'random' | 'mask'>,
  aborted: AbortSignal,
  isUnsubscribed = () => false,
): AsyncGenerator<PipelineEvent, void> {
  const { clock, ledger, memory, settings, record, rateLimiter } = target
  const { timeout, retries } = settings.poll
  const requestOptions = { rateLimiter, timeout, retries, random }
  const observations = observe({ clock, client, requestOptions, ledger, memory, settings: settings.poll }, aborted)
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
  const { problem } = next.value
  const report = { ...next.value, problem: problem && mask(problem) }
  const before = record.current()
  record.add(report)
  yield { kind: 'polled', target: target.name, report, before, sync: ledger.sync }
}

/**
 * Decides, commits and applies an observation; undefined if it changed nothing.
 *
 * @throws {StoreError} and then nothing was applied
 */
export function commitObservation(target: Target, observation: Observation): Promise<Committed | undefined> {
  return target.runExclusive(async () => {
    const { name, ledger, settings, store, clock } = target
    const ids = possiblyEvictedIds(ledger, observation, settings.poll)
    const evicted = ids.length === 0 ? undefined : await store.evictedCalls(name, ids)
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
    const { times, clock, record, pollAge, requestsIn } = target
    if (clock.monotonic() < times.awaited) return undefined
    const decision = decideTick(
      target,
      { pollAge: pollAge(), cause: record.current().problem, requestsIn },
      clock.wall(),
    )
    const committed = decision && apply(target, await commit(target, decision))
    times.evaluated = clock.monotonic()
    return committed
  })
}
