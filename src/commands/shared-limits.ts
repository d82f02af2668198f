import type { Clock } from '../clock/clock.ts'
import type { AdjustableBudget } from '../polling/rate-budget.ts'
import type { Store } from '../store/store.ts'
import type { Watch } from './watch.ts'

export type SharedLimitsOptions = {
  store: Pick<Store, 'sharing' | 'heldUntil'>
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
  /** Takes over what the service has asked of the daemon that watched the target before. */
  hold: (watch: Watch) => Promise<void>
}

/** Of a limit a daemon has as large a part as it has of the targets: so much is asked for, wherever they are watched. */
export function sharedLimits({ store, clock, budgets, watches, isRunning }: SharedLimitsOptions): SharedLimits {
  if (store.sharing === undefined) return { share: () => undefined, hold: async () => undefined }
  return {
    share: (watch) => {
      if (watch === undefined) return
      let [alike, own] = [0, 0]
      for (const { budgetKey, keeper } of watches.values()) {
        if (budgetKey !== watch.budgetKey) continue
        alike += 1
        if (isRunning(keeper.target)) own += 1
      }
      budgets.get(watch.budgetKey)?.limitTo((watch.part.poll.maxRequestsPerMinute * own) / alike)
    },
    hold: async ({ budgetKey }) => {
      const until = await store.heldUntil(budgetKey)
      const seconds = (until ?? -Infinity) - clock.wall()
      if (seconds > 0) budgets.get(budgetKey)?.holdBack(seconds)
    },
  }
}
