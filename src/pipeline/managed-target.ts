import { delayAfter } from '../clock/delay-after.ts'
import { isDeepStrictEqual } from 'node:util'
import { catchError, defer, delay, finalize, merge, mergeMap, repeat, take, takeUntil, tap, timer } from 'rxjs'
import type { Observable } from 'rxjs'
import type { Lease, Ownership } from '../cluster/ownership.ts'
import { abortable } from '../rx/abortable.ts'
import { StoreError } from '../store/store-error.ts'
import type { TargetIdentity } from '../store/store.ts'
import { connect, type ConnectionOptions } from './connection.ts'
import { NO_POLL } from './health.ts'
import type { HintQueue } from './hint-queue.ts'
import { pipeline, type PipelineEvent, type PipelineOptions } from './pipeline.ts'
import type { RequestLimits } from './request-limits.ts'
import { openTarget, type OpenTargetOptions, type Target, type TargetSettings } from './target.ts'

/** A target of the configuration, until it is removed from it. */
export type ManagedTarget = TargetIdentity & {
  readonly rateLimitKey: string
  readonly hints: HintQueue
  state: TargetState
}

export type TargetState =
  /** Not in memory. `problem` is why it cannot be loaded, once that has failed. */
  | { kind: 'unloaded'; problem?: string }
  /** Between two runs. `due`: when the next poll is due (monotonic seconds). Without a lease, no run has begun. */
  | { kind: 'loaded'; target: Target; lease?: Lease; due: number }
  | { kind: 'running'; target: Target; lease: Lease }
  /** Must be loaded again before it is polled: the state in memory may miss a part of a commit. */
  | { kind: 'outdated'; target: Target; lease: Lease; due?: number }

/** An event of a target that this daemon owns. */
export type ManagedEvent =
  | PipelineEvent
  /** Its state cannot be loaded. callwatch retries each second. */
  | { kind: 'not loaded'; target: string; problem: string }
  /** A bug ended its run. callwatch retries after a pause (seconds). */
  | { kind: 'internal error'; target: string; error: unknown; seconds: number }

export type ManagedTargetOptions = Pick<OpenTargetOptions, 'store' | 'clock'> &
  Omit<ConnectionOptions, 'ownership'> &
  Pick<PipelineOptions, 'random' | 'mask'> & { ownership: Ownership; limits: RequestLimits }

/** How long a running poll may still take when it must end (seconds). */
const GRACE_PERIOD_SECONDS = 8
/** The pause before a target is loaded again (seconds). Each bug that ends its polls doubles it, up to the longest pause. */
const RETRY_SECONDS = 1
const MAX_PAUSE_SECONDS = 300

const inMemory = ({ state }: ManagedTarget) => (state.kind === 'unloaded' ? undefined : state.target)

/** The target in memory; undefined if another daemon may have committed since it was loaded. */
export function loadedOf({ state }: ManagedTarget): Target | undefined {
  return state.kind === 'unloaded' || (state.lease?.isAborted() ?? false) ? undefined : state.target
}

/**
 * Loads a target from the store, also if it was loaded before.
 *
 * @throws {StoreError}
 */
export function loadTarget(
  managed: ManagedTarget,
  settings: TargetSettings,
  { ownership, ...options }: ManagedTargetOptions & Pick<OpenTargetOptions, 'isStored'>,
): Promise<Target> {
  const owner = () => ownership.ownerOf(managed.name)
  return openTarget({ ...options, settings, owner, before: inMemory(managed) })
}

/**
 * Polls a target while this daemon owns it and its settings stay the same. After a problem of the store or a bug, it starts
 * again after a pause. Other targets are not affected.
 */
export function runTarget(
  managed: ManagedTarget,
  settings: TargetSettings,
  { lease, draining$: settingsDraining$ }: { lease: Lease; draining$: Observable<unknown> },
  options: ManagedTargetOptions,
): Observable<ManagedEvent> {
  const { clock, limits } = options
  const draining$ = merge(settingsDraining$, lease.draining$)
  const graceEnded$ = draining$.pipe(take(1), delay(GRACE_PERIOD_SECONDS * 1000, clock.scheduler))
  const aborted$ = merge(lease.aborted$, graceEnded$)
  const failures = newFailures(managed, lease, options)

  return defer(() => {
    const release = lease.hold()
    const client = connect(settings, () => inMemory(managed)!, options)

    function run({ target, offset }: { target: Target; offset: number }): Observable<ManagedEvent> {
      const startsAt = clock.monotonic() + offset
      const { interval } = settings.poll
      managed.state = { kind: 'running', target, lease }
      failures.pause = RETRY_SECONDS
      limits.resize()
      return pipeline({ ...options, target, client, hints: managed.hints, offset, draining$, aborted$ }).pipe(
        tap((event) => {
          if (event.kind === 'polled' && event.report.successful) failures.bugs = 0
        }),
        finalize(() => {
          const due = startsAt + Math.max(0, Math.ceil((clock.monotonic() - startsAt) / interval)) * interval
          if (target.lastCommitUnknown) managed.state = { kind: 'outdated', target, lease }
          else if (managed.state.kind === 'running') managed.state = { kind: 'loaded', target, lease, due }
          limits.resize()
        }),
      )
    }

    return abortable((aborted) => ready(managed, settings, { ...options, lease, aborted })).pipe(
      takeUntil(draining$),
      mergeMap(run),
      catchError((error: unknown) => failures.note(error)),
      repeat({ delay: () => timer(failures.pause * 1000, clock.scheduler).pipe(takeUntil(draining$)) }),
      finalize(() => {
        // If the lease continues, the next run uses the loaded state with the new settings.
        if (lease.isDraining()) managed.state = { kind: 'unloaded' }
        release()
      }),
    )
  })
}

/** The failures of a target under a lease, and the pause after the latest of them (seconds). */
function newFailures(managed: ManagedTarget, lease: Lease, { clock, mask }: ManagedTargetOptions) {
  let loadProblem: string | undefined
  const failures = {
    pause: RETRY_SECONDS,
    /** Since the last successful poll. */
    bugs: 0,
    note: (error: unknown): ManagedEvent[] => {
      const { name, state } = managed
      if (!(error instanceof StoreError)) {
        failures.bugs += 1
        failures.pause = delayAfter(failures.bugs, RETRY_SECONDS, MAX_PAUSE_SECONDS)
        if (state.kind !== 'unloaded') {
          state.target.record.add({ ...NO_POLL, problem: 'internal error', fault: 'bug' })
          managed.state = { ...state, kind: 'outdated', lease, due: clock.monotonic() }
        }
        return [{ kind: 'internal error', target: name, error, seconds: failures.pause }]
      }
      failures.pause = RETRY_SECONDS
      const problem = mask(error.message)
      if (state.kind === 'unloaded') managed.state = { kind: 'unloaded', problem }
      if (problem === loadProblem) return []
      loadProblem = problem
      return [{ kind: 'not loaded', target: name, problem }]
    },
  }
  return failures
}

/**
 * The target with its settings, and the seconds until its first poll. If the lease is the same, it continues with the loaded
 * state. It also keeps the pages of its list that it has read, unless the poll settings changed.
 *
 * @throws {StoreError}
 */
async function ready(
  managed: ManagedTarget,
  settings: TargetSettings,
  options: ManagedTargetOptions & { lease: Lease; aborted: AbortSignal },
): Promise<{ target: Target; offset: number }> {
  const { clock, limits, lease, aborted } = options
  const { state } = managed
  // Under another lease, another daemon may have committed in between.
  const continues = state.kind === 'loaded' && (state.lease ?? lease) === lease
  const before = continues ? state.target : undefined
  const rateLimiter = await limits.rateLimiterOf(settings)
  const isSame = before !== undefined && isDeepStrictEqual(before.settings, settings)
  const target = isSame ? before : await loadTarget(managed, settings, { ...options, isStored: true })
  // The lease may have ended while the target was loaded, so other daemons may have committed since.
  aborted.throwIfAborted()
  // With another page size, the pages that were read differ.
  if (before !== undefined && isDeepStrictEqual(before.settings.poll, settings.poll)) target.memory = before.memory
  target.rateLimiter = rateLimiter
  const due = continues || state.kind === 'outdated' ? state.due : undefined
  const left = due === undefined ? dueAfterFailover(target, options) : Math.max(0, due - clock.monotonic())
  return { target, offset: Math.min(left, settings.poll.interval) }
}

/**
 * When the first poll is due after another daemon's last poll (seconds). If it is overdue, it is due soon, but targets are
 * spread over time. A target whose owner died is polled within the lease, including its renewals, and two intervals.
 */
function dueAfterFailover(
  { ledger, pollAge, settings: { poll } }: Target,
  { random, ownership }: Pick<ManagedTargetOptions, 'random' | 'ownership'>,
): number {
  const left = poll.interval - pollAge()
  if (left > 0 && ledger.sync.lastSuccess !== undefined) return left
  return (random() * Math.max(0, poll.interval - 2 * ownership.renewalInterval)) / 2
}
