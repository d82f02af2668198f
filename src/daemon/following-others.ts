import { EMPTY, exhaustMap, mergeAll, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Committed } from '../store/keep-target.ts'
import type { MissedCommit } from '../store/sharing.ts'
import type { Store } from '../store/store.ts'
import { onlyStoreErrors } from '../store/only-store-errors.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Watch } from './watch.ts'

export type FollowingOthersOptions = {
  store: Pick<Store, 'sharing'>
  clock: Clock
  /** The targets that are open, by name. */
  watches: ReadonlyMap<string, Watch>
  /** Whether this daemon watches a target at the moment. */
  isRunning: (name: string) => boolean
  /** Opens a target anew as the store has it. */
  reopen: (watch: Watch) => Promise<void>
}

/** How a daemon keeps up with what it did not commit itself, or got no answer about. */
export type FollowingOthers = {
  /**
   * Finds out what was committed of targets, and moves on by it.
   *
   * @throws {StoreError}
   */
  catchUp: (names: readonly string[]) => Promise<DaemonEvent[]>
  /** Does so again and again for the targets that other daemons watch, until `end$`. */
  follow: (end$: Observable<unknown>) => Observable<DaemonEvent>
}

/** How often one looks (seconds). */
const INTERVAL = 1

export function followingOthers({
  store: { sharing },
  clock,
  watches,
  isRunning,
  reopen,
}: FollowingOthersOptions): FollowingOthers {
  if (sharing === undefined) return { catchUp: async () => [], follow: () => EMPTY }

  async function catchUp(names: readonly string[]): Promise<DaemonEvent[]> {
    const open = names.flatMap((name) => watches.get(name) ?? [])
    if (open.length === 0) return []
    const known = open.map(({ keeper: { target, ledger } }) => [target, ledger.facts.seq] as const)
    const missed = Map.groupBy(await sharing!.missed(new Map(known)), ({ target }) => target)
    const followed = await Promise.all(open.map((watch) => moveOn(watch, missed.get(watch.keeper.target) ?? [])))
    return followed.flat().map((committed) => ({ kind: 'followed', committed }))
  }

  async function moveOn(watch: Watch, missed: readonly MissedCommit[]): Promise<Committed[]> {
    const commits = missed.flatMap(({ commit }) => commit ?? [])
    if (commits.length === missed.length) return watch.keeper.follow(commits)
    // The log does not reach back to where this daemon was.
    await reopen(watch)
    return []
  }

  return {
    catchUp,
    follow: (end$) =>
      timer(0, INTERVAL * 1000, clock.scheduler).pipe(
        takeUntil(end$),
        exhaustMap(() => {
          const others = [...watches.values()].filter(({ keeper }) => !isRunning(keeper.target) || keeper.isUnsure())
          // What cannot be read now is read a second later.
          return catchUp(others.map(({ keeper }) => keeper.target)).catch(onlyStoreErrors([]))
        }),
        mergeAll(),
      ),
  }
}
