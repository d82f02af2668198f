import { exhaustMap, filter, takeUntil, timer, type Observable } from 'rxjs'
import { fetch } from 'undici'
import type { Clock } from '../clock/clock.ts'
import { attempt, outwardAgent, refusal } from './http-attempt.ts'

/** What became of one beat. */
export type Heartbeat = {
  outcome: 'sent' | 'failed'
  /** Why it was not sent, without the address. */
  problem?: string
}

export type HeartbeatOptions = {
  /** A secret. */
  url: string
  /** Seconds between two beats, above 0 and at most 24 days. */
  interval: number
  /** Whether callwatch does what it is there for. */
  isWorking: () => boolean
  clock: Clock
  /** Emits when there is to be no further beat; one under way is finished. */
  stop$: Observable<unknown>
}

/** As a problem names it, whose address is a secret. */
const RECEIVER = 'the heartbeat address'

/**
 * Calls an address each interval for as long as callwatch works, until `stop$`: whoever waits there notices when the
 * calls stop coming. A beat that fails is not sent again, the next one follows soon enough. Never errors.
 */
export function heartbeat({ url, interval, isWorking, clock, stop$ }: HeartbeatOptions): Observable<Heartbeat> {
  const dispatcher = outwardAgent(url)
  const call = () =>
    attempt(RECEIVER, clock, async (signal) => {
      // Where a redirect leads, nobody may be waiting.
      const response = await fetch(url, { redirect: 'manual', dispatcher, signal })
      await response.body?.cancel()
      const { status, ok } = response
      if (!ok) throw refusal(RECEIVER, { status, retryAfter: undefined })
    })
  const beat = async (): Promise<Heartbeat | undefined> => {
    try {
      if (!isWorking()) return undefined
      await call()
      return { outcome: 'sent' }
    } catch (error) {
      return { outcome: 'failed', problem: error instanceof Error ? error.message : String(error) }
    }
  }
  return timer(0, interval * 1000, clock.scheduler).pipe(
    takeUntil(stop$),
    exhaustMap(beat),
    filter((outcome) => outcome !== undefined),
  )
}
