import { EMPTY, exhaustMap, ignoreElements, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { AdjustableBudget } from '../polling/rate-budget.ts'
import { onlyStoreErrors } from '../store/only-store-errors.ts'
import type { Store } from '../store/store.ts'
import type { Watch } from './watch.ts'

export type SharedLimitsOptions = {
  store: Pick<Store, 'sharing'>
  clock: Clock
  budgets: ReadonlyMap<string, AdjustableBudget>
  /** The targets that are open, by name. */
  watches: ReadonlyMap<string, Watch>
  /** Whether this daemon watches a target at the moment. */
  isRunning: (name: string) => boolean
}

/** How daemons that share a store keep the limits of requests together. */
export type SharedLimits = {
  /** Sets this daemon's part of the limit that a target has, with those of the same address and key. */
  share: (watch: Watch | undefined) => void
  /** Takes over what the service has asked of another daemon with the same address and key. */
  hold: (budgetKey: string) => Promise<void>
  /** Does so again and again for those that several daemons use at once, until `end$`. Emits nothing. */
  follow: (end$: Observable<unknown>) => Observable<never>
}

/** How often one looks (seconds). */
const INTERVAL = 1
/** What differs by less (seconds) is the same wait, by clocks that are not quite the same. */
const SAME = 0.5

/** Of a limit a daemon has as large a part as it has of the targets: so much is asked for, wherever they are watched. */
export function sharedLimits({
  store: { sharing },
  clock,
  budgets,
  watches,
  isRunning,
}: SharedLimitsOptions): SharedLimits {
  if (sharing === undefined) {
    return { share: () => undefined, hold: async () => undefined, follow: () => EMPTY }
  }

  /** How many targets a key has, and how many of them this daemon watches. */
  function partOf(key: string): { all: number; own: number } {
    let [all, own] = [0, 0]
    for (const { budgetKey, keeper } of watches.values()) {
      if (budgetKey !== key) continue
      all += 1
      if (isRunning(keeper.target)) own += 1
    }
    return { all, own }
  }

  async function hold(keys: readonly string[]): Promise<void> {
    for (const [key, until] of await sharing!.holds(keys)) {
      const budget = budgets.get(key)
      const seconds = until - clock.wall()
      if (budget !== undefined && seconds > budget.heldFor() + SAME) budget.holdBack(seconds)
    }
  }

  /** The keys of which this daemon watches some targets, and others the rest. */
  function sharedKeys(): string[] {
    const own = new Set<string>()
    const others = new Set<string>()
    for (const { budgetKey, keeper } of watches.values()) (isRunning(keeper.target) ? own : others).add(budgetKey)
    return [...own.intersection(others)]
  }

  return {
    share: (watch) => {
      if (watch === undefined) return
      const { all, own } = partOf(watch.budgetKey)
      budgets.get(watch.budgetKey)?.limitTo((watch.part.poll.maxRequestsPerMinute * own) / all)
    },
    hold: (key) => hold([key]),
    follow: (end$) =>
      timer(0, INTERVAL * 1000, clock.scheduler).pipe(
        takeUntil(end$),
        // What cannot be read now is read a second later.
        exhaustMap(() => hold(sharedKeys()).catch(onlyStoreErrors(undefined))),
        ignoreElements(),
      ),
  }
}
