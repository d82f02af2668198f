import { isDeepStrictEqual } from 'node:util'
import {
  defer,
  delay,
  distinct,
  map,
  merge,
  mergeAll,
  mergeMap,
  retry,
  take,
  takeUntil,
  throwError,
  timer,
  type Observable,
} from 'rxjs'
import { closedNotifications } from '../alerts/evaluate.ts'
import type { Config } from '../config/config.ts'
import { StoreError } from '../store/store.ts'
import type { WatchedTarget } from '../web/views.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { firstLookProgress } from './first-look-progress.ts'
import { following } from './following.ts'
import { fingerprintOf, watch, type Watch, type WatchOptions, type WatchPart } from './watch.ts'

/** All targets that are watched, as the configuration comes to want them. */
export type WatchedTargets = {
  /** In the configuration's order. Changed in place: who shows them shows those of the moment. */
  readonly targets: readonly WatchedTarget[]
  /**
   * Opens those targets that are not open yet, so that nothing is left that could keep this configuration from being
   * followed.
   *
   * @throws {StoreError} when one cannot be opened, or is another one than is watched under its name; then all stays as it was
   */
  open: (config: Config) => Promise<void>
  /** Watches what the latest configuration names, each target undisturbed for as long as what it goes by is the same. */
  follow: (config$: Observable<Config>) => Observable<DaemonEvent>
  close: () => Promise<void>
}

export type WatchedTargetsOptions = Omit<WatchOptions, 'part' | 'offset' | 'before'>

/** How long a running cycle may still go on when its watch is to end (seconds). */
const GRACE = 8
/** What the store refuses for the moment is tried again after this long (seconds). */
const STORE_RETRY = 1

export function watchedTargets(options: WatchedTargetsOptions): WatchedTargets {
  const { clock, store, stop$ } = options
  const watches = new Map<string, Watch>()
  /** Those of them that nobody has begun to run. */
  const waiting = new Set<Watch>()
  const targets: WatchedTarget[] = []
  let order: string[] = []

  function show(): void {
    targets.splice(0, Infinity, ...order.flatMap((name) => watches.get(name)?.watched ?? []))
  }

  async function open(config: Config): Promise<void> {
    for (const { target } of config.targets.flatMap(({ name }) => watches.get(name)?.part ?? [])) {
      const named = config.targets.find(({ name }) => name === target.name)!
      if (fingerprintOf(named) !== fingerprintOf(target)) throw anotherTarget(target.name)
    }
    const opened: Watch[] = []
    try {
      for (const [i, { name }] of config.targets.entries()) {
        if (watches.has(name)) continue
        const offset = (i / config.targets.length) * config.poll.interval
        opened.push(await watch({ ...options, part: partOf(config, name)!, offset }))
      }
    } catch (error) {
      for (const { close } of opened) await close()
      throw error
    }
    for (const one of opened) {
      watches.set(one.part.target.name, one)
      waiting.add(one)
    }
    order = [...new Set([...config.targets.map(({ name }) => name), ...watches.keys()])]
    show()
  }

  /** The watch that goes by this part: one that waits for it, or a new one in the place of that which has ended. */
  async function watchFor(name: string, part: WatchPart): Promise<Watch> {
    const before = watches.get(name)
    if (before !== undefined && waiting.delete(before) && isDeepStrictEqual(before.part, part)) return before
    const offset = Math.min(before?.dueIn() ?? 0, part.poll.interval)
    const next = await watch({ ...options, part, before, offset })
    watches.set(name, next)
    show()
    await before?.close()
    return next
  }

  /** Closes the alerts of a target that is watched no more, and then the target. */
  async function forget(name: string): Promise<DaemonEvent[]> {
    const watch = watches.get(name)
    if (watch === undefined) return []
    const alerts = [...watch.watched.alerts.values()]
    const notifications = closedNotifications(name, alerts, 'target removed', clock.wall())
    await store.closeAlerts(
      name,
      notifications.map((change) => ({ change, to: options.route(change) })),
    )
    watches.delete(name)
    waiting.delete(watch)
    show()
    await watch.close()
    return [{ kind: 'removed', target: name, notifications }]
  }

  function watching(name: string, part: WatchPart | undefined, over$: Observable<unknown>): Observable<DaemonEvent> {
    const end$ = merge(over$, stop$)
    if (part === undefined) return defer(() => forget(name)).pipe(storeRetried, takeUntil(stop$), mergeAll())
    const abandon$ = end$.pipe(take(1), delay(GRACE * 1000, clock.scheduler))
    return defer(() => watchFor(name, part)).pipe(
      storeRetried,
      takeUntil(end$),
      mergeMap(({ run, watched }) => {
        return merge(
          run(end$, abandon$).pipe(map((event): DaemonEvent => ({ kind: 'watch', target: name, event }))),
          firstLookProgress(watched, clock).pipe(
            takeUntil(end$),
            map((progress): DaemonEvent => ({ kind: 'progress', target: name, progress })),
          ),
        )
      }),
    )
  }

  /** Asks a store that cannot be used for the moment again and again. */
  function storeRetried<T>(source: Observable<T>): Observable<T> {
    return source.pipe(
      retry({
        delay: (error) =>
          error instanceof StoreError ? timer(STORE_RETRY * 1000, clock.scheduler) : throwError(() => error),
      }),
    )
  }

  return {
    targets,
    open,
    follow: (config$) =>
      config$.pipe(
        mergeMap((config) => config.targets.map(({ name }) => name)),
        distinct(),
        mergeMap((name) =>
          following(config$.pipe(map((config) => partOf(config, name))), (part, over$) => watching(name, part, over$)),
        ),
      ),
    close: async () => {
      for (const { close } of watches.values()) await close()
    },
  }
}

/** What a target's watch goes by; undefined where the configuration does not name it. */
function partOf({ targets, poll, alerts: rules }: Config, name: string): WatchPart | undefined {
  const target = targets.find((one) => one.name === name)
  return target && { target, poll, rules }
}

function anotherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} has another address, on_behalf_of or query than that which is watched under this name; give it ` +
      `another name, or restart with --reset-target ${name} to count from nothing`,
  )
}
