import type { Targets } from '../pipeline/lifecycle.ts'
import type { Target } from '../pipeline/target.ts'
import type { Job } from './jobs.ts'

/** An initial sync that takes longer than this is reported, and again after each such period (seconds). */
const REPORT_INTERVAL_SECONDS = 5

/** Reports the progress of initial syncs that take long, when they have progressed. */
export function initialSyncs({ loaded }: Pick<Targets, 'loaded'>): Job {
  const reported = new WeakMap<Target, number>()
  return {
    every: REPORT_INTERVAL_SECONDS,
    leaderOnly: false,
    run: async () =>
      loaded().flatMap((target) => {
        const isLong = target.health().polledFor >= REPORT_INTERVAL_SECONDS
        const progress = isLong && target.ledger.sync.lastSuccess === undefined ? target.progress() : undefined
        if (progress === undefined || progress.pagesRead === reported.get(target)) return []
        reported.set(target, progress.pagesRead)
        return [{ kind: 'progress', target: target.name, progress }]
      }),
  }
}
