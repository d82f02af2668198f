import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../../../clock/clock.ts'
import { httpSender } from '../../../network/http-sender.ts'

/** What became of one beat. */
export type Heartbeat = {
  outcome: 'sent' | 'failed'
  /** Why it was not sent, without the URL. */
  problem?: string
}

export type HeartbeatOptions = {
  /** A secret. */
  url: string
  /** Seconds between two beats, above 0 and at most 24 days. */
  interval: number
  /** Whether callwatch does its work. */
  isWorking: () => boolean
  clock: Clock
  /** Emits when no further heartbeat may be sent; one under way is finished. */
  draining$: Observable<unknown>
}

/**
 * Requests a URL each interval for as long as callwatch works, until `draining$`: the service there notices when the
 * requests stop. A beat that fails is not sent again, the next one follows soon enough. Never errors.
 */
export function heartbeats({ url, interval, isWorking, clock, draining$ }: HeartbeatOptions): Observable<Heartbeat> {
  const deliver = httpSender({ receiver: 'the heartbeat URL', url, clock })
  const beat = async (): Promise<Heartbeat | undefined> => {
    try {
      if (!isWorking()) return undefined
      await deliver((request) => request({}))
      return { outcome: 'sent' }
    } catch (error) {
      return { outcome: 'failed', problem: error instanceof Error ? error.message : String(error) }
    }
  }
  return timer(0, interval * 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(beat),
    filter((outcome) => outcome !== undefined),
  )
}
