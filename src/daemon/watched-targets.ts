import { isDeepStrictEqual } from 'node:util'
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
import type { Turn } from '../cluster/ownership.ts'
import { BEATS } from '../cluster/shared-ownership.ts'
import type { Config } from '../config/config.ts'
import { abortable } from '../polling/abortable.ts'
import { newWatchMemory } from '../polling/watch-memory.ts'
import { StoreError } from '../store/store.ts'
import type { WatchedTarget } from '../web/views.ts'
import type { DaemonEvent } from './daemon-event.ts'
import { firstLookProgress } from './first-look-progress.ts'
import { followingOthers } from './following-others.ts'
import { following } from './following.ts'
import { internalErrors } from './internal-errors.ts'
import { sharedLimits } from './shared-limits.ts'
import { storeRetried } from './store-retried.ts'
import { budgetKey, fingerprintOf, watch, type Watch, type WatchOptions, type WatchPart } from './watch.ts'

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
  /** Whether what is known of a target is all that was committed of it, by whomever: until it is, its counts are too low. */
  isCaughtUp: (name: string) => boolean
  /** What is committed of those targets that other daemons watch, until `end$`. */
  followOthers: (end$: Observable<unknown>) => Observable<DaemonEvent>
  close: () => Promise<void>
}

export type WatchedTargetsOptions = Omit<WatchOptions, 'part' | 'offset' | 'before'>

/** How long a running cycle may still go on when its watch is to end (seconds). */
const GRACE = 8
/** So many targets are opened at a time. */
const OPENED_AT_A_TIME = 8

export function watchedTargets(options: WatchedTargetsOptions): WatchedTargets {
  const { clock, store, ownership, stop$ } = options
  const watches = new Map<string, Watch>()
  /** Those of them that nobody has begun to run. */
  const waiting = new Set<Watch>()
  /** The turn in which each of the others ran last. */
  const turns = new WeakMap<Watch, Turn>()
  /** Those that a mistake of our own has ended: what they have in memory is not to be relied on. */
  const broken = new WeakSet<Watch>()
  /** Targets that are being watched. */
  const running = new Set<string>()
  /** Those whose watching has begun in the turn that they have. */
  const caughtUp = new Set<string>()
  const targets: WatchedTarget[] = []
  let order: string[] = []

  const isRunning = (name: string) => running.has(name)
  const limits = sharedLimits({ ...options, watches, isRunning })
  const others = followingOthers({ ...options, watches, isRunning, reopen })
  /** Names of targets whose watching is to end and to begin anew, by what the store has. */
  const restarts = new Subject<string>()

  function show(): void {
    targets.splice(0, Infinity, ...order.flatMap((name) => watches.get(name)?.watched ?? []))
  }

  async function open(config: Config): Promise<void> {
    for (const { target } of config.targets.flatMap(({ name }) => watches.get(name)?.part ?? [])) {
      const named = config.targets.find(({ name }) => name === target.name)!
      if (fingerprintOf(named) !== fingerprintOf(target)) throw anotherTarget(target.name)
    }
    const opened: Watch[] = []
    const opening$ = from(config.targets.entries()).pipe(
      filter(([, { name }]) => !watches.has(name)),
      mergeMap(async ([i, { name }]) => {
        const offset = (i / config.targets.length) * config.poll.interval
        opened.push(await watch({ ...options, part: partOf(config, name)!, offset }))
      }, OPENED_AT_A_TIME),
    )
    try {
      await lastValueFrom(opening$, { defaultValue: undefined })
    } catch (error) {
      for (const { close } of opened) await close()
      throw error
    }
    for (const one of opened) {
      watches.set(one.part.target.name, one)
      waiting.add(one)
    }
    for (const one of opened) limits.share(one)
    order = [...new Set([...config.targets.map(({ name }) => name), ...watches.keys()])]
    show()
  }

  /** The watch that goes by this part: one that waits for it, or a new one in the place of that which has ended. */
  async function watchFor(name: string, part: WatchPart, turn: Turn, signal: AbortSignal): Promise<Watch> {
    const before = watches.get(name)
    // Until this daemon's turn, another one may have gone on with what was opened.
    const isUntouched = before !== undefined && waiting.delete(before) && store.sharing === undefined
    if (isUntouched && isDeepStrictEqual(before.part, part)) return before
    if (before !== undefined && broken.has(before)) return afreshFor(name, part, turn, before)
    const goesOn = before === undefined || isUntouched || turns.get(before) === turn
    const offset = Math.min(goesOn ? (before?.dueIn() ?? 0) : dueAfterTakeOver(before), part.poll.interval)
    // What a cycle remembers of the list is of no use once another daemon has gone on with it.
    const memory = goesOn ? before?.memory : newWatchMemory(before.keeper.ledger, clock)
    const next = await watch({ ...options, part, before: before && { ...before, memory: memory! }, offset })
    if (signal.aborted) {
      await next.close()
      throw new Error('overtaken')
    }
    if (!goesOn) next.keeper.beginAnew()
    turns.set(next, turn)
    replace(name, next)
    await before?.close()
    return next
  }

  /** A watch that goes by nothing but what the store has, in the place of a broken one. */
  async function afreshFor(name: string, part: WatchPart, turn: Turn, before: Watch): Promise<Watch> {
    // A commit that is still on its way would make what is loaded now stale.
    await before.keeper.follow([])
    const next = await watch({ ...options, part, offset: 0 })
    turns.set(next, turn)
    replace(name, next)
    await before.close()
    return next
  }

  function replace(name: string, next: Watch): void {
    watches.set(name, next)
    const shown = targets.findIndex(({ target }) => target === name)
    if (shown === -1) show()
    else targets[shown] = next.watched
  }

  /** Also of a target that another daemon watches, it is shown what the configuration says here. */
  function showBy(name: string, { rules, poll: { interval, lookback } }: WatchPart): void {
    const one = watches.get(name)
    if (one === undefined) return
    one.watched = { ...one.watched, rules, interval, lookback }
    replace(name, one)
  }

  /** Opens a target anew as the store has it; one that is being watched, as soon as its cycle has ended. */
  async function reopen(before: Watch): Promise<void> {
    const { name } = before.part.target
    if (isRunning(name)) return restarts.next(name)
    const next = await watch({ ...options, part: before.part, offset: 0 })
    if (watches.get(name) !== before) return next.close()
    if (waiting.delete(before)) waiting.add(next)
    replace(name, next)
    return before.close()
  }

  /**
   * When the first cycle is due after another daemon's last one (seconds). Where that is late, at once; but not of all
   * targets at once, and so that a target whose owner died is looked at within the lease and two intervals, beats included.
   */
  function dueAfterTakeOver({ keeper, part: { poll } }: Watch): number {
    const left = poll.interval - keeper.lookAge()
    if (left > 0 && keeper.ledger.facts.lastGood !== undefined) return left
    const beat = (store.sharing?.lease ?? 0) / BEATS
    return (options.random() * Math.max(0, poll.interval - 2 * beat)) / 2
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
    limits.share([...watches.values()].find(({ budgetKey: key }) => key === watch.budgetKey))
    await watch.close()
    return [{ kind: 'removed', target: name, notifications }]
  }

  function watching(name: string, part: WatchPart | undefined, over$: Observable<unknown>): Observable<DaemonEvent> {
    const end$ = merge(over$, stop$)
    if (part === undefined) return defer(() => forget(name)).pipe(storeRetried(clock), takeUntil(stop$), mergeAll())
    showBy(name, part)
    return ownership.turn$(name).pipe(
      takeUntil(end$),
      concatMap((turn) => takingTurn(name, part, turn, end$)),
    )
  }

  /** Watches a target for as long as it is this daemon's, and the configuration wants it so. */
  function takingTurn(name: string, part: WatchPart, turn: Turn, end$: Observable<unknown>): Observable<DaemonEvent> {
    const over$ = merge(end$, turn.over$)
    const pause$ = merge(over$, restarts.pipe(filter((one) => one === name)))
    const abandon$ = merge(turn.lost$, over$.pipe(take(1), delay(GRACE * 1000, clock.scheduler)))
    const open = async (signal: AbortSignal) => {
      const [followed] = await Promise.all([others.catchUp([name]), limits.hold(budgetKey(part.target))])
      return { followed, opened: await watchFor(name, part, turn, signal) }
    }
    const failed = () => {
      const one = watches.get(name)
      if (one !== undefined) broken.add(one)
    }
    const run$ = abortable(open).pipe(
      storeRetried(clock),
      takeUntil(pause$),
      mergeMap(({ followed, opened }) => {
        running.add(name)
        caughtUp.add(name)
        limits.share(opened)
        return merge(
          followed,
          opened.run(pause$, abandon$).pipe(map((event): DaemonEvent => ({ kind: 'watch', target: name, event }))),
          firstLookProgress(opened.watched, clock).pipe(
            takeUntil(pause$),
            map((progress): DaemonEvent => ({ kind: 'progress', target: name, progress })),
          ),
        )
      }),
      finalize(() => {
        running.delete(name)
        limits.share(watches.get(name))
      }),
      internalErrors(name, { clock, failed, over$: merge(over$, turn.lost$) }),
    )
    return defer(() => {
      const done = turn.use()
      const ended = () => {
        caughtUp.delete(name)
        done()
      }
      return run$.pipe(repeat({ delay: () => timer(0, clock.scheduler).pipe(takeUntil(over$)) }), finalize(ended))
    })
  }

  return {
    targets,
    open,
    isCaughtUp: (name) => store.sharing === undefined || caughtUp.has(name),
    follow: (config$) =>
      config$.pipe(
        mergeMap((config) => config.targets.map(({ name }) => name)),
        distinct(),
        mergeMap((name) =>
          following(config$.pipe(map((config) => partOf(config, name))), (part, over$) => watching(name, part, over$)),
        ),
      ),
    followOthers: (end$) => merge(others.follow(end$), limits.follow(end$)),
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
