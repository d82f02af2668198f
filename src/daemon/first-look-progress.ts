import { distinctUntilChanged, filter, map, takeWhile, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Progress } from '../polling/watch-target.ts'
import type { WatchedTarget } from '../web/views.ts'

/** Seconds after which a first look counts as a long one, and between two words of it. */
const INTERVAL = 5

/** How far a target's first look has come, every few seconds while it moves. Completes once it has ended. */
export function firstLookProgress({ ledger, progress }: WatchedTarget, clock: Clock): Observable<Progress> {
  return timer(INTERVAL * 1000, INTERVAL * 1000, clock.scheduler).pipe(
    takeWhile(() => ledger.facts.lastGood === undefined),
    map(() => progress?.()),
    filter((reading) => reading !== undefined),
    distinctUntilChanged((before, now) => before.done === now.done),
  )
}
