import type { Logger } from 'pino'
import {
  catchError,
  concatMap,
  defer,
  delay,
  distinct,
  EMPTY,
  filter,
  finalize,
  from,
  interval,
  lastValueFrom,
  map,
  merge,
  mergeAll,
  mergeMap,
  NEVER,
  of,
  repeat,
  share,
  take,
  takeUntil,
  takeWhile,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import { expiredNotifications } from '../alerts/evaluate.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Clock } from '../clock/clock.ts'
import type { Ownership, Lease } from '../cluster/ownership.ts'
import type { Config } from '../config/config.ts'
import { expiryEvents } from '../events/new-events.ts'
import { abortable } from '../polling/abortable.ts'
import type { SweepProgress } from '../polling/poll-memory.ts'
import { storeRetried } from '../store/store-retried.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store, TargetIdentity } from '../store/store.ts'
import type { ConnectionOptions } from './connection.ts'
import {
  loadManagedTarget,
  newManagedTarget,
  prepareManagedTarget,
  unloadManagedTarget,
  type ManagedTarget,
  type Prepared,
} from './managed-target.ts'
import { initialSyncProgress } from './initial-sync-progress.ts'
import { internalErrors } from './internal-errors.ts'
import { pipeline, type PipelineEvent } from './pipeline.ts'
import { requestLimits, type RequestLimitsOptions } from './request-limits.ts'
import { runWhile } from './run-while.ts'
import { targetFingerprint, type ReceiversOf, type Target, type TargetSettings } from './target.ts'

/** What happens to the targets. */
export type TargetEvent =
  | PipelineEvent
  /** How far an initial sync is that takes long. */
  | { kind: 'progress'; target: string; progress: SweepProgress }
  /** The state of a target cannot be loaded; it is retried each second. */
  | { kind: 'not loaded'; target: string; problem: string }
  /** A bug ended the work on a target; it is retried after a pause (seconds). */
  | { kind: 'internal error'; target: string; error: unknown; seconds: number }
  /** A target was removed from the configuration; what is said of its alerts. */
  | { kind: 'removed'; target: string; notifications: readonly Notification[] }

/** The targets of the configuration, in its order, as they are at the moment. */
export type Targets = {
  /** The names of all. */
  readonly all: () => readonly string[]
  /** The names of those that this daemon owns. */
  readonly owned: () => readonly string[]
  /** Those of them whose state is loaded, with all commits of earlier owners. */
  readonly loaded: () => readonly Target[]
  /** The others of them, each with why it cannot be loaded once that has failed. */
  readonly loading: () => readonly { name: string; problem: string | undefined }[]
}

export type Lifecycle = Targets & {
  /**
   * Adds those targets that are new, so that nothing is left that could refuse this configuration. Where no other daemon uses
   * the store, they are loaded.
   *
   * @throws {StoreError} when one cannot be loaded, or is another one than the target that has its name; then all stays as it was
   */
  open: (config: Config) => Promise<void>
  /** Polls what the latest configuration names, each target undisturbed for as long as its settings are the same. */
  run: (config$: Observable<Config>) => Observable<TargetEvent>
  /** Applies the rate limit pauses that other daemons received; to be called each second. */
  replicatePauses: () => Promise<void>
  close: () => Promise<void>
}

export type LifecycleOptions = {
  store: Store
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  log: Logger
  receiversOf: ReceiversOf
  /** Which targets are this daemon's to poll. */
  ownership: Ownership
  /** Takes secrets out of a text. */
  mask: (text: string) => string
  /** Emits when the daemon must stop; replays. */
  draining$: Observable<unknown>
} & Pick<ConnectionOptions, 'transportTo'> &
  Pick<RequestLimitsOptions, 'rateLimiters'>

/** What the health of a target has of a poll that a bug ended. */
const ENDED_BY_BUG = { successful: false, problem: 'internal error', requests: [], storeFailed: false, isBug: true }
/** How long a running poll may still take when it must end (seconds). */
const GRACE_PERIOD_SECONDS = 8
/** So many targets are loaded at a time. */
const LOADED_AT_A_TIME = 8
/** What cannot be loaded is loaded again after so many seconds. */
const LOAD_RETRY_SECONDS = 1
/** How soon it is noticed that the last commit of a target is unknown (seconds). */
const UNKNOWN_COMMIT_CHECK_SECONDS = 1

/** A target can be polled. */
type Ready = { kind: 'ready'; prepared: Prepared }

export function lifecycle(options: LifecycleOptions): Lifecycle {
  const { clock, store, ownership, draining$: daemonDraining$, receiversOf, random } = options
  const managedTargets = new Map<string, ManagedTarget>()
  let order: string[] = []

  const { cluster } = store
  const namesOf = (filter: (name: string) => boolean) =>
    order.filter((name) => managedTargets.has(name) && filter(name))
  const limits = requestLimits({ ...options, members: () => managedTargets.values() })
  const loading = { ...options, limits }
  const seconds$ = interval(UNKNOWN_COMMIT_CHECK_SECONDS * 1000, clock.scheduler).pipe(share())

  async function open(config: Config): Promise<void> {
    for (const named of config.targets) {
      const before = managedTargets.get(named.name)?.settings.target
      if (before !== undefined && targetFingerprint(named) !== targetFingerprint(before))
        throw anotherTarget(named.name)
    }
    const added = config.targets.flatMap(({ name }, i) => {
      const offset = (i / config.targets.length) * config.poll.interval
      return managedTargets.has(name) ? [] : [newManagedTarget(settingsOf(config, name)!, clock, offset)]
    })
    if (cluster === undefined) {
      const loading$ = from(added).pipe(mergeMap((managed) => loadManagedTarget(managed, options), LOADED_AT_A_TIME))
      await lastValueFrom(loading$, { defaultValue: undefined })
    } else await cluster.addTargets(added.map(identityOf), clock.wall())
    for (const managed of added) managedTargets.set(managed.name, managed)
    for (const { settings } of added) limits.resizeLimit(settings)
    order = [...new Set([...config.targets.map(({ name }) => name), ...managedTargets.keys()])]
  }

  /** Ends the alerts and open calls of a target that is not in the configuration any more, and then closes the target. */
  async function remove(name: string): Promise<TargetEvent[]> {
    const managed = managedTargets.get(name)
    if (managed === undefined) return []
    const others = [...managedTargets.keys()].filter((other) => other !== name)
    const alerts = (await store.strayTargets(others)).find(({ target }) => target === name)?.alerts ?? []
    const now = clock.wall()
    const notifications = expiredNotifications(name, alerts, 'target removed', now)
    await store.expireAlerts(
      name,
      notifications.map((change) => ({ change, receivers: receiversOf(change) })),
      expiryEvents(name, notifications, now),
      now,
    )
    managedTargets.delete(name)
    const other = [...managedTargets.values()].find((one) => one.rateLimitKey === managed.rateLimitKey)
    if (other !== undefined) limits.resizeLimit(other.settings)
    await managed.connection?.close()
    return [{ kind: 'removed', target: name, notifications }]
  }

  function runOne(
    name: string,
    settings: TargetSettings | undefined,
    settingsDraining$: Observable<unknown>,
  ): Observable<TargetEvent> {
    const draining$ = merge(settingsDraining$, daemonDraining$)
    const managed = managedTargets.get(name)
    if (settings === undefined)
      return defer(() => remove(name)).pipe(storeRetried(clock), takeUntil(daemonDraining$), mergeAll())
    if (managed === undefined) {
      // It was removed, and is there again.
      managedTargets.set(name, newManagedTarget(settings, clock, 0))
      return runOne(name, settings, settingsDraining$)
    }
    managed.settings = settings
    return ownership.lease$(name).pipe(
      takeUntil(draining$),
      concatMap((lease) => runLease(managed, settings, lease, draining$)),
    )
  }

  /** Polls a target while this daemon owns it and the settings stay the same. */
  function runLease(
    managed: ManagedTarget,
    settings: TargetSettings,
    lease: Lease,
    settingsDraining$: Observable<unknown>,
  ): Observable<TargetEvent> {
    const { name } = managed
    const leaseDraining$ = merge(settingsDraining$, lease.draining$)
    const graceEnded$ = leaseDraining$.pipe(take(1), delay(GRACE_PERIOD_SECONDS * 1000, clock.scheduler))
    const aborted$ = merge(lease.aborted$, graceEnded$)
    const ready = (aborted: AbortSignal) =>
      managed.runExclusive(() => prepareManagedTarget(managed, { ...loading, lease, aborted }))
    const failed = () => {
      managed.state = 'broken'
      managed.target?.record.add(ENDED_BY_BUG)
    }
    /** That its state cannot be loaded, once for each reason; then that it is ready. */
    const prepared$: Observable<TargetEvent | Ready> = abortable(ready).pipe(
      map((prepared): Ready => ({ kind: 'ready', prepared })),
      catchError((error: unknown) => {
        if (!(error instanceof StoreError)) throw error
        const problem = options.mask(error.message)
        const isKnown = problem === managed.problem
        managed.problem = problem
        return isKnown ? EMPTY : of<TargetEvent>({ kind: 'not loaded', target: name, problem })
      }),
      repeat({ delay: () => timer(LOAD_RETRY_SECONDS * 1000, clock.scheduler) }),
      takeWhile(({ kind }) => kind !== 'ready', true),
      takeUntil(leaseDraining$),
    )
    const run = ({ target, connection: { client }, offset }: Prepared): Observable<TargetEvent> => {
      const runDraining$ = merge(leaseDraining$, lastCommitUnknown(managed))
      managed.state = 'running'
      limits.resizeLimit(settings)
      const { timeout, retries } = settings.poll
      const requestOptions = { rateLimiter: target.rateLimiter!, timeout, retries, random }
      return merge(
        pipeline({ target, client, requestOptions, offset, draining$: runDraining$, aborted$, mask: options.mask }),
        initialSyncProgress(target).pipe(takeUntil(runDraining$)),
      )
    }
    return defer(() => {
      const done = lease.hold()
      return prepared$.pipe(
        mergeMap((event) => (event.kind === 'ready' ? run(event.prepared) : of(event))),
        finalize(() => {
          if (managed.state === 'running') managed.state = 'idle'
          limits.resizeLimit(settings)
        }),
        internalErrors(name, { clock, failed, draining$: merge(leaseDraining$, lease.aborted$) }),
        repeat({ delay: () => timer(0, clock.scheduler).pipe(takeUntil(leaseDraining$)) }),
        finalize(() => {
          // Under the same lease, other settings continue with what is loaded.
          if (lease.isDraining()) unloadManagedTarget(managed)
          done()
        }),
      )
    })
  }

  /** Emits when a target must be loaded again, since the answer to its last commit was lost. */
  function lastCommitUnknown(managed: ManagedTarget): Observable<unknown> {
    if (cluster === undefined) return NEVER
    return seconds$.pipe(
      filter(() => managed.target?.lastCommitUnknown === true),
      // What it read of the list may not be what is loaded.
      tap(() => (managed.lease = undefined)),
    )
  }

  return {
    all: () => namesOf(() => true),
    owned: () => namesOf(ownership.owns),
    loaded: () => namesOf(ownership.owns).flatMap((name) => loadedOf(managedTargets.get(name)!) ?? []),
    loading: () =>
      namesOf(ownership.owns).flatMap((name) => {
        const managed = managedTargets.get(name)!
        return loadedOf(managed) === undefined ? [{ name, problem: managed.problem }] : []
      }),
    open,
    run: (config$) =>
      config$.pipe(
        mergeMap((config) => config.targets.map(({ name }) => name)),
        distinct(),
        mergeMap((name) =>
          runWhile(config$.pipe(map((config) => settingsOf(config, name))), (settings, draining$) =>
            runOne(name, settings, draining$),
          ),
        ),
      ),
    replicatePauses: limits.replicatePauses,
    close: async () => {
      for (const { connection } of managedTargets.values()) await connection?.close()
    },
  }
}

/** Its state, unless another daemon may have committed since it was loaded. */
function loadedOf({ target, lease }: ManagedTarget): Target | undefined {
  return lease?.isAborted() === true ? undefined : target
}

/** What a target depends on; undefined where the configuration does not name it. */
function settingsOf(
  { targets, poll, alerts: rules, events: { participants } }: Config,
  name: string,
): TargetSettings | undefined {
  const target = targets.find((one) => one.name === name)
  return target && { target, poll, rules, participants }
}

function identityOf({ settings: { target } }: ManagedTarget): TargetIdentity {
  return { name: target.name, fingerprint: targetFingerprint(target) }
}

function anotherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} has another URL, on_behalf_of or query than the stored target of this name; give it ` +
      `another name, or restart with --reset-target ${name} to count from nothing`,
  )
}
