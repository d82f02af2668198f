import { distinctUntilChanged, filter, map, takeWhile, timer, type Observable } from 'rxjs'
import type { SweepProgress } from '../polling/poll-memory.ts'
import type { Target } from './target.ts'

/** Seconds after which an initial sync counts as a long one, and between two reports of it. */
const REPORT_INTERVAL_SECONDS = 5

/** How far a target's initial sync is, every few seconds while it moves. Completes once it has ended. */
export function initialSyncProgress(
  target: Target,
): Observable<{ kind: 'progress'; target: string; progress: SweepProgress }> {
  return timer(REPORT_INTERVAL_SECONDS * 1000, REPORT_INTERVAL_SECONDS * 1000, target.clock.scheduler).pipe(
    takeWhile(() => target.ledger.sync.lastSuccess === undefined),
    map(() => target.progress()),
    filter((progress) => progress !== undefined),
    distinctUntilChanged((before, now) => before.pagesRead === now.pagesRead),
    map((progress) => ({ kind: 'progress', target: target.name, progress }) as const),
  )
}
