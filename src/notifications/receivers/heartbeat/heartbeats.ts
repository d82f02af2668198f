import type { Clock } from '../../../clock/clock.ts'
import { httpSender } from '../../../network/http-sender.ts'
import { refusalIn } from '../../refusal.ts'
import type { Refresh } from '../../receiver.ts'
import type { HeartbeatConfig } from './heartbeat.ts'

/** How often it is requested (seconds): most services expect a request a minute at the most. */
const INTERVAL_SECONDS = 60

/** Requests a URL once a minute while callwatch works. The service behind it notices when the requests stop. */
export function heartbeats({ url, clock }: HeartbeatConfig & { clock: Clock }): Refresh {
  const deliver = httpSender({ receiver: 'the heartbeat URL', url, clock, refuses: refusalIn })
  let dueAt = -Infinity
  return ({ isWorking }) => {
    const now = clock.monotonic()
    if (now < dueAt || !isWorking()) return undefined
    return async () => {
      await deliver((request) => request({}))
      // It is called each second. A request that is a little late does not delay those that follow.
      dueAt = (now - dueAt < INTERVAL_SECONDS ? dueAt : now) + INTERVAL_SECONDS
    }
  }
}
