import * as z from 'zod'
import { isoTime } from '../clock/times.ts'
import { count, namedObject, seconds, time } from './shapes.ts'

/** A receiver of notifications. */
export const receiver = namedObject('Receiver', {
  name: z.string(),
  pending: count.describe('Changes of alerts, and digests, that wait'),
  oldest_pending_seconds: seconds.optional().describe('How long the oldest change of an alert has been waiting'),
  failing_since: time
    .optional()
    .describe('Since when nothing could be delivered; of several daemons, the one that delivers knows it'),
  problem: z.string().optional().describe('Why the last attempt failed'),
})
export type ReceiverView = z.output<typeof receiver>
export const receivers = namedObject('Receivers', { receivers: z.array(receiver) })

type Configured = { name: string; failure?: { since: number; problem: string } | undefined }
type Waiting = ReadonlyMap<string, { pending: number; since?: number | undefined }>

/** @param now the host's clock (UNIX seconds) */
export function receiverView({ name, failure }: Configured, waiting: Waiting, now: number): ReceiverView {
  const { pending, since } = waiting.get(name) ?? { pending: 0 }
  return {
    name,
    pending,
    ...(since !== undefined && { oldest_pending_seconds: Math.max(0, now - since) }),
    ...(failure !== undefined && { failing_since: isoTime(failure.since), problem: failure.problem }),
  }
}
