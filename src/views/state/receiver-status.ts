import * as z from 'zod'
import { isoTime } from '../../clock/times.ts'
import { count, namedObject, seconds, time } from '../shapes.ts'

/** A receiver of notifications. Of several daemons, the one that delivers knows what fails. */
export const receiver = namedObject('Receiver', {
  name: z.string(),
  pending: count.describe('Messages that could not be sent yet'),
  oldest_pending_seconds: seconds.optional().describe('For how long an attempt to send one of them has failed'),
  failing_since: time.optional().describe('Since when nothing could be delivered'),
  problem: z.string().optional().describe('Why an attempt failed'),
  next_attempt: time.optional().describe('When the next attempt is due; absent while one is made'),
})
export type ReceiverView = z.output<typeof receiver>

/**
 * What cannot be delivered: since when nothing can be, unless only some messages fail; why, when the next attempt is due, how many messages
 * wait, and since when an attempt to send one of them has failed (UNIX seconds by the host's clock).
 */
export type Failure = { since?: number; problem: string; next: number; pending: number; oldest: number }

/** @param now the host's clock (UNIX seconds) */
export function receiverView(
  { name, failure }: { name: string; failure?: Failure | undefined },
  now: number,
): ReceiverView {
  if (failure === undefined) return { name, pending: 0 }
  const { since, problem, next, pending, oldest } = failure
  return {
    name,
    pending,
    oldest_pending_seconds: Math.max(0, now - oldest),
    ...(since !== undefined && { failing_since: isoTime(since) }),
    problem,
    ...(next > now && { next_attempt: isoTime(next) }),
  }
}
