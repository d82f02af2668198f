import { EMPTY, exhaustMap, mergeAll, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { MissedCommit } from '../store/sharing.ts'
import { onlyStoreErrors, type Store } from '../store/store.ts'
import { replicate, type Committed } from './commit.ts'
import type { Target } from './target.ts'

export type ReplicaOptions = {
  store: Pick<Store, 'sharing'>
  clock: Clock
  /** The targets of which other daemons may have committed. */
  replicas: () => readonly Target[]
  /** Takes a target from the store again, where the log of commits does not reach back far enough. */
  reload: (target: Target) => Promise<void>
}

/** What was committed elsewhere, or without an answer. */
export type Replicated = { kind: 'replicated'; committed: Committed }

/** How targets are kept up with what other daemons commit of them. */
export type Replication = {
  /**
   * Applies what was committed of targets.
   *
   * @throws {StoreError}
   */
  catchUp: (targets: readonly Target[]) => Promise<Replicated[]>
  /** Does so for all replicas, every second until `aborted$`. */
  follow: (aborted$: Observable<unknown>) => Observable<Replicated>
}

/** Seconds between two reads. */
const INTERVAL = 1

export function replication({ store: { sharing }, clock, replicas, reload }: ReplicaOptions): Replication {
  if (sharing === undefined) return { catchUp: async () => [], follow: () => EMPTY }

  async function catchUp(targets: readonly Target[]): Promise<Replicated[]> {
    if (targets.length === 0) return []
    const known = new Map(targets.map(({ name, ledger }) => [name, ledger.sync.seq]))
    const missed = Map.groupBy(await sharing!.missed(known), ({ target }) => target)
    const replicated = await Promise.all(targets.map((target) => moveOn(target, missed.get(target.name) ?? [])))
    return replicated.flat().map((committed) => ({ kind: 'replicated', committed }))
  }

  async function moveOn(target: Target, missed: readonly MissedCommit[]): Promise<Committed[]> {
    const commits = missed.flatMap(({ commit }) => commit ?? [])
    if (commits.length === missed.length) return replicate(target, commits)
    await reload(target)
    return []
  }

  return {
    catchUp,
    follow: (aborted$) =>
      timer(0, INTERVAL * 1000, clock.scheduler).pipe(
        takeUntil(aborted$),
        // What cannot be read now is read a second later.
        exhaustMap(() => catchUp(replicas()).catch(onlyStoreErrors([]))),
        mergeAll(),
      ),
  }
}
