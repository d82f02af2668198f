import { merge, tap, timer, type Subscription } from 'rxjs'
import type { Simulator } from './simulator.ts'

/** Calls fail for so long, again and again; on the last of the targets a minute later than on the first (seconds). */
const BURST = { seconds: 300, every: 1800, spread: 60 }

/** Lets calls fail, now and again and again, until it is unsubscribed from, so that at least `percent` of the calls of that time do. */
export function bursts(
  simulators: readonly Pick<Simulator, 'burst'>[],
  percent: number,
  { callsPerMinute }: { callsPerMinute: number },
): Subscription {
  const { seconds, every, spread } = BURST
  const calls = Math.ceil((callsPerMinute * (seconds / 60) * percent) / (100 - percent))
  const each$ = simulators.map(({ burst }, i) =>
    timer((i / simulators.length) * spread * 1000, every * 1000).pipe(tap(() => burst({ calls, seconds }))),
  )
  return merge(...each$).subscribe()
}
