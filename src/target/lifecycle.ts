import type { Logger } from 'pino'
import {
  concatMap,
  defer,
  delay,
  distinct,
  filter,
  finalize,
  from,
  lastValueFrom,
  map,
  merge,
  mergeAll,
  mergeMap,
  repeat,
  Subject,
  take,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs'
import { closedNotifications } from '../alerts/evaluate.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Clock } from '../clock/clock.ts'
import type { Ownership, Tenure } from '../cluster/ownership.ts'
import type { Config } from '../config/config.ts'
import { abortable } from '../polling/abortable.ts'
import type { SweepProgress } from '../polling/poll-memory.ts'
import { storeRetried } from '../store/store-retried.ts'
import { StoreError, type Store } from '../store/store.ts'
import type { ConnectionOptions } from './connection.ts'
import { loadEntry, openEntry, prepareEntry, type Entry } from './entry.ts'
import { initialSyncProgress } from './initial-sync-progress.ts'
import { internalErrors } from './internal-errors.ts'
import { pipeline, type PipelineEvent } from './pipeline.ts'
import { replication, type Replicated } from './replica.ts'
import { requestLimits, type RequestLimitsOptions } from './request-limits.ts'
import { runWhile } from './run-while.ts'
import { fingerprintOf, type Route, type Target, type TargetSettings } from './target.ts'

/** What happens to the targets. */
export type TargetEvent =
  | PipelineEvent
  | Replicated
  /** How far an initial sync is that takes long. */
  | { kind: 'progress'; target: string; progress: SweepProgress }
  /** A bug ended the work on a target; it is retried after a pause (seconds). */
  | { kind: 'internal error'; target: string; error: unknown; seconds: number }
  /** A target was removed from the configuration; what is said of its alerts. */
  | { kind: 'removed'; target: string; notifications: readonly Notification[] }

/** The targets of the configuration, in its order; each as it is at the moment. */
export type Targets = {
  readonly all: () => readonly Target[]
  /** Those that this daemon owns. */
  readonly own: () => readonly Target[]
  /** Those of them with all commits of earlier owners applied: before, their counters would be too low. */
  readonly exported: () => readonly Target[]
}

export type Lifecycle = Targets & {
  /**
   * Opens those targets that are not open yet, so that nothing is left that could refuse this configuration.
   *
   * @throws {StoreError} when one cannot be opened, or is another one than the target that has its name; then all stays as it was
   */
  open: (config: Config) => Promise<void>
  /** Polls what the latest configuration names, each target undisturbed for as long as its settings are the same. */
  run: (config$: Observable<Config>) => Observable<TargetEvent>
  /** Applies what other daemons commit, until `aborted$`. */
  replicate: (aborted$: Observable<unknown>) => Observable<TargetEvent>
  close: () => Promise<void>
}

export type LifecycleOptions = {
  store: Store
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  log: Logger
  route: Route
  /** Which targets are this daemon's to poll. */
  ownership: Ownership
  /** Takes secrets out of a text. */
  mask: (text: string) => string
  /** Emits when the daemon must stop; replays. */
  draining$: Observable<unknown>
} & Pick<ConnectionOptions, 'transportTo'> &
  Pick<RequestLimitsOptions, 'rateLimiters'>

/** How long a running poll may still take when it must end (seconds). */
const GRACE_PERIOD_SECONDS = 8
/** So many targets are opened at a time. */
const OPENED_AT_A_TIME = 8

export function lifecycle(options: LifecycleOptions): Lifecycle {
  const { clock, store, ownership, draining$: daemonDraining$, route, random } = options
  const entries = new Map<string, Entry>()
  let order: string[] = []
  /** Names of targets whose pipeline must end and start again from the store. */
  const restarts = new Subject<string>()

  const isAlone = store.sharing === undefined
  const inOrder = (filter: (entry: Entry) => boolean) => order.flatMap((name) => entries.get(name) ?? []).filter(filter)
  const targetsOf = (some: readonly Entry[]) => some.map(({ target }) => target)
  const isOwn = ({ target }: Entry) => ownership.owns(target.name)
  const limits = requestLimits({ ...options, members: () => entries.values() })
  const replicas = replication({
    store,
    clock,
    replicas: () => targetsOf(inOrder(({ target, isRunning }) => !isRunning || target.lastCommitUnknown)),
    reload: async ({ name }) => {
      const entry = entries.get(name)
      if (entry === undefined) return
      // What it read of the list may not be what is loaded.
      entry.tenure = undefined
      if (entry.isRunning) restarts.next(name)
      else await loadEntry(entry, entry.wanted)
    },
  })

  async function open(config: Config): Promise<void> {
    for (const named of config.targets) {
      const before = entries.get(named.name)?.target.settings.target
      if (before !== undefined && fingerprintOf(named) !== fingerprintOf(before)) throw anotherTarget(named.name)
    }
    const opened: Entry[] = []
    const opening$ = from(config.targets.entries()).pipe(
      filter(([, { name }]) => !entries.has(name)),
      mergeMap(async ([i, { name }]) => {
        const offset = (i / config.targets.length) * config.poll.interval
        opened.push(await openEntry({ ...options, limits, settings: settingsOf(config, name)!, offset }))
      }, OPENED_AT_A_TIME),
    )
    await lastValueFrom(opening$, { defaultValue: undefined })
    for (const entry of opened) entries.set(entry.target.name, entry)
    for (const { loaded } of opened) limits.resizeLimit(loaded)
    order = [...new Set([...config.targets.map(({ name }) => name), ...entries.keys()])]
  }

  /** Closes the alerts of a target that is not in the configuration any more, and then the target. */
  async function remove(name: string): Promise<TargetEvent[]> {
    const entry = entries.get(name)
    if (entry === undefined) return []
    const alerts = [...entry.target.alerts.values()]
    const notifications = closedNotifications(name, alerts, 'target removed', clock.wall())
    await store.closeAlerts(
      name,
      notifications.map((change) => ({ change, receivers: route(change) })),
    )
    entries.delete(name)
    const other = [...entries.values()].find((one) => one.rateLimitKey === entry.rateLimitKey)
    if (other !== undefined) limits.resizeLimit(other.loaded)
    await entry.connection?.close()
    return [{ kind: 'removed', target: name, notifications }]
  }

  function runOne(
    name: string,
    settings: TargetSettings | undefined,
    settingsDraining$: Observable<unknown>,
  ): Observable<TargetEvent> {
    const draining$ = merge(settingsDraining$, daemonDraining$)
    const entry = entries.get(name)
    if (settings === undefined)
      return defer(() => remove(name)).pipe(storeRetried(clock), takeUntil(daemonDraining$), mergeAll())
    if (entry === undefined) {
      return defer(() => openEntry({ ...options, limits, settings, offset: 0 })).pipe(
        storeRetried(clock),
        takeUntil(draining$),
        mergeMap((opened) => {
          entries.set(name, opened)
          return runOne(name, settings, settingsDraining$)
        }),
      )
    }
    // Also where another daemon polls it, it is shown with the settings that hold here.
    entry.wanted = settings
    entry.target.settings = settings
    return ownership.tenure$(name).pipe(
      takeUntil(draining$),
      concatMap((tenure) => runTenure(entry, settings, tenure, draining$)),
    )
  }

  /** Polls a target while this daemon owns it and the settings stay the same. */
  function runTenure(
    entry: Entry,
    settings: TargetSettings,
    tenure: Tenure,
    settingsDraining$: Observable<unknown>,
  ): Observable<TargetEvent> {
    const { target } = entry
    const { name } = target
    const tenureDraining$ = merge(settingsDraining$, tenure.draining$)
    const draining$ = merge(tenureDraining$, restarts.pipe(filter((one) => one === name)))
    const graceEnded$ = tenureDraining$.pipe(take(1), delay(GRACE_PERIOD_SECONDS * 1000, clock.scheduler))
    const aborted$ = merge(tenure.aborted$, graceEnded$)
    const ready = (aborted: AbortSignal) =>
      entry.runExclusive(async () => ({
        replicated: await replicas.catchUp([target]),
        ...(await prepareEntry(entry, { ...options, limits, settings, tenure, aborted })),
      }))
    const failed = () => {
      entry.isBroken = true
      target.record.add({ successful: false, problem: 'internal error', requests: [], storeFailed: false })
    }
    const run$ = abortable(ready).pipe(
      storeRetried(clock),
      takeUntil(draining$),
      mergeMap(({ replicated, connection: { client }, rateLimiter, offset }) => {
        entry.isRunning = true
        entry.isCaughtUp = true
        limits.resizeLimit(settings)
        const { timeout, retries } = settings.poll
        const requestOptions = { rateLimiter, timeout, retries, random }
        return merge(
          replicated,
          pipeline({ target, client, requestOptions, offset, draining$, aborted$, mask: options.mask }),
          initialSyncProgress(target).pipe(takeUntil(draining$)),
        )
      }),
      finalize(() => {
        entry.isRunning = false
        limits.resizeLimit(settings)
      }),
      internalErrors(name, { clock, failed, draining$: merge(tenureDraining$, tenure.aborted$) }),
    )
    return defer(() => {
      const done = tenure.use()
      return run$.pipe(
        repeat({ delay: () => timer(0, clock.scheduler).pipe(takeUntil(tenureDraining$)) }),
        finalize(() => {
          entry.isCaughtUp = false
          done()
        }),
      )
    })
  }

  return {
    all: () => targetsOf(inOrder(() => true)),
    own: () => targetsOf(inOrder(isOwn)),
    exported: () => targetsOf(inOrder((entry) => isOwn(entry) && (isAlone || entry.isCaughtUp))),
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
    replicate: (aborted$) => merge(replicas.follow(aborted$), limits.follow(aborted$)),
    close: async () => {
      for (const { connection } of entries.values()) await connection?.close()
    },
  }
}

/** What a target depends on; undefined where the configuration does not name it. */
function settingsOf({ targets, poll, alerts: rules }: Config, name: string): TargetSettings | undefined {
  const target = targets.find((one) => one.name === name)
  return target && { target, poll, rules }
}

function anotherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} has another URL, on_behalf_of or query than the stored target of this name; give it ` +
      `another name, or restart with --reset-target ${name} to count from nothing`,
  )
}
