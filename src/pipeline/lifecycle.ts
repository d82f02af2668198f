import { concatMap, defer, distinct, from, lastValueFrom, map, merge, mergeAll, mergeMap, takeUntil } from 'rxjs'
import type { Observable } from 'rxjs'
import type { Notification } from '../alerts/notification.ts'
import type { Clock } from '../clock/clock.ts'
import type { Rule } from '../alerts/rule.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import type { Hint } from '../ledger/hint.ts'
import { storeRetried } from '../store/store-retried.ts'
import { StoreError } from '../store/store-error.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { expiry } from './expiry.ts'
import { hintQueue } from './hint-queue.ts'
import { loadedOf, loadTarget, runTarget } from './managed-target.ts'
import type { ManagedEvent, ManagedTarget, ManagedTargetOptions } from './managed-target.ts'
import { renamedTargets } from './renamed-targets.ts'
import { requestLimits, type RequestLimitsOptions } from './request-limits.ts'
import { runWhile } from '../rx/run-while.ts'
import { identityOf, rateLimitKey, targetFingerprint, type Target, type TargetSettings } from './target.ts'

/** An event of the targets. */
export type TargetEvent =
  | ManagedEvent
  /** A target was removed from the configuration, and its alerts expired. */
  | { kind: 'removed'; target: string; notifications: readonly Notification[] }

/** What the configuration says of the targets. */
type TargetsConfig = {
  targets: readonly TargetConfig[]
  poll: PollConfig
  alerts: readonly Rule[]
  events: { participants: boolean }
}

export type Lifecycle = ReturnType<typeof lifecycle>

/** The targets of the configuration, in its order, in their current state. */
export type Targets = Pick<Lifecycle, 'all' | 'owned' | 'loaded' | 'loading'>

export type LifecycleOptions = Omit<ManagedTargetOptions, 'limits'> &
  Pick<RequestLimitsOptions, 'rateLimiters'> & {
    /** Emits when the daemon must stop; replays. */
    draining$: Observable<unknown>
  }

/** How many targets are loaded at the same time. */
const LOADED_AT_A_TIME = 8

export function lifecycle(options: LifecycleOptions) {
  const { clock, store, ownership, draining$: daemonDraining$ } = options
  const managedTargets = new Map<string, ManagedTarget>()
  let order: string[] = []
  const limits = requestLimits({ ...options, members: () => managedTargets.values().map(memberOf) })
  const targetOptions: ManagedTargetOptions = { ...options, limits }
  const managed = (filter: (name: string) => boolean = () => true) =>
    order.flatMap((name) => (filter(name) ? (managedTargets.get(name) ?? []) : []))

  /**
   * Adds new targets, so that nothing can refuse this configuration afterwards. If no other daemon uses the store, it loads
   * them.
   *
   * @returns as of {@link renamedTargets}
   * @throws {StoreError} if a target cannot be loaded, or differs from the stored target of its name; then nothing has
   *   changed
   */
  async function open(config: TargetsConfig): ReturnType<typeof renamedTargets> {
    const added = newTargets(config, managedTargets, clock)
    const renamed = await addAll(added, config, targetOptions)
    // A poll of one that is still running commits nothing any more.
    for (const name of renamed.ended) managedTargets.delete(name)
    for (const one of added.keys()) managedTargets.set(one.name, one)
    limits.resize()
    order = [...new Set([...config.targets.map(({ name }) => name), ...managedTargets.keys()])]
    return renamed
  }

  /** Expires the alerts, and ends the open calls, of a target that is no longer in the configuration. */
  async function remove(name: string): Promise<TargetEvent[]> {
    if (!managedTargets.has(name)) return []
    const others = [...managedTargets.keys()].filter((other) => other !== name)
    const alerts = (await store.strayTargets(others)).find(({ target }) => target === name)?.alerts ?? []
    const { stored, notifications, now } = expiry(options, name, alerts, 'target removed')
    await store.expireAlerts(...stored, now)
    managedTargets.delete(name)
    limits.resize()
    return [{ kind: 'removed', target: name, notifications }]
  }

  function runOne(
    name: string,
    settings: TargetSettings | undefined,
    settingsDraining$: Observable<unknown>,
  ): Observable<TargetEvent> {
    if (settings === undefined)
      return defer(() => remove(name)).pipe(storeRetried(clock), takeUntil(daemonDraining$), mergeAll())
    // The target may have been removed and added again.
    const managed = managedTargets.get(name) ?? newManagedTarget(settings.target, clock)
    managedTargets.set(name, managed)
    const draining$ = merge(settingsDraining$, daemonDraining$)
    return ownership.lease$(name).pipe(
      takeUntil(draining$),
      concatMap((lease) => runTarget(managed, settings, { lease, draining$ }, targetOptions)),
    )
  }

  return {
    /** The names of all targets. */
    all: (): readonly string[] => managed().map(({ name }) => name),
    /** The names of the targets that this daemon owns. */
    owned: (): readonly string[] => managed(ownership.owns).map(({ name }) => name),
    /** The owned targets whose state is loaded, with all commits of earlier owners. */
    loaded: (): readonly Target[] => managed(ownership.owns).flatMap((one) => loadedOf(one) ?? []),
    /** The other owned targets, each with the problem if loading it has failed. */
    loading: () => managed(ownership.owns).flatMap(loadingOf),
    open,
    /** Polls the targets of the latest configuration. A reload does not interrupt a target whose settings stay the same. */
    run: (config$: Observable<TargetsConfig>): Observable<TargetEvent> =>
      config$.pipe(
        mergeMap((config) => config.targets.map(({ name }) => name)),
        distinct(),
        mergeMap((name) =>
          runWhile(config$.pipe(map((config) => settingsOf(config, name))), (...settings) => runOne(name, ...settings)),
        ),
      ),
    /** Takes a hint about a call of a target that this daemon owns. */
    hint: (name: string, hint: Hint) => takeHint(ownership.owns(name) ? managedTargets.get(name) : undefined, hint),
    /** Applies the rate limit pauses that other daemons received. Call it every second. */
    replicatePauses: limits.replicatePauses,
  }
}

/**
 * The targets of a configuration that are not managed yet, and when their first polls are due: spread over an interval.
 *
 * @throws {StoreError} if one differs from the managed target of its name
 */
function newTargets(
  { targets, poll }: TargetsConfig,
  known: ReadonlyMap<string, ManagedTarget>,
  clock: Clock,
): ReadonlyMap<ManagedTarget, number> {
  const added = new Map<ManagedTarget, number>()
  for (const [i, target] of targets.entries()) {
    const before = known.get(target.name)
    if (before !== undefined && before.fingerprint !== targetFingerprint(target)) throw anotherTarget(target.name)
    const due = clock.monotonic() + (i / targets.length) * poll.interval
    if (before === undefined) added.set(newManagedTarget(target, clock), due)
  }
  return added
}

/**
 * Adds targets to the store. Those that continue others come last, because after that nothing can be as before.
 *
 * @returns as of {@link renamedTargets}
 * @throws {StoreError} if one is refused or cannot be loaded
 */
async function addAll(
  added: ReadonlyMap<ManagedTarget, number>,
  config: TargetsConfig,
  options: ManagedTargetOptions,
): ReturnType<typeof renamedTargets> {
  const { store, clock } = options
  const renamed = await renamedTargets(store, config.targets)
  const { renames, refusal } = renamed
  if (refusal !== undefined) throw new StoreError('refused', refusal)
  const add = (some: ReadonlyMap<ManagedTarget, number>) =>
    store.cluster === undefined
      ? loadAll(some, config, options)
      : store.cluster.addTargets([...some.keys()], clock.wall())
  const names = new Set(renames.map(({ name }) => name))
  await add(new Map([...added].filter(([{ name }]) => !names.has(name))))
  if (renames.length === 0) return renamed
  await store.renameTargets(renames)
  await add(new Map([...added].filter(([{ name }]) => names.has(name))))
  return renamed
}

/** @throws {StoreError} if one cannot be loaded */
async function loadAll(
  added: ReadonlyMap<ManagedTarget, number>,
  config: TargetsConfig,
  options: ManagedTargetOptions,
): Promise<void> {
  const load = async ([managed, due]: [ManagedTarget, number]) => {
    const target = await loadTarget(managed, settingsOf(config, managed.name)!, options)
    managed.state = { kind: 'loaded', target, due }
  }
  await lastValueFrom(from(added).pipe(mergeMap(load, LOADED_AT_A_TIME)), { defaultValue: undefined })
}

function takeHint(managed: ManagedTarget | undefined, hint: Hint): void {
  if (managed === undefined) return
  managed.hints.add(hint)
  loadedOf(managed)?.ends?.note(hint)
}

function loadingOf(managed: ManagedTarget) {
  const { name, state } = managed
  if (loadedOf(managed) !== undefined) return []
  return [{ name, problem: state.kind === 'unloaded' ? state.problem : undefined }]
}

function newManagedTarget(target: TargetConfig, clock: Clock): ManagedTarget {
  return {
    ...identityOf(target),
    rateLimitKey: rateLimitKey(target),
    hints: hintQueue(clock, target),
    state: { kind: 'unloaded' },
  }
}

/** What the rate limits depend on. */
function memberOf({ rateLimitKey, state }: ManagedTarget) {
  return {
    rateLimitKey,
    limit: state.kind === 'running' ? state.target.settings.poll.maxRequestsPerMinute : undefined,
  }
}

/** The settings of a target; undefined if it is not in the configuration. */
function settingsOf(
  { targets, poll, alerts: rules, events: { participants } }: TargetsConfig,
  name: string,
): TargetSettings | undefined {
  const target = targets.find((one) => one.name === name)
  return target && { target, poll, rules, participants }
}

function anotherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} has another URL, on_behalf_of or query than the stored target of this name; give it ` +
      `another name, or restart with --reset-target ${name} to count from nothing`,
  )
}
