import * as z from 'zod'
import { nameOf } from '../alerts/alert.ts'
import { isoTime } from '../clock/times.ts'
import type { OutboxContent } from '../store/store.ts'
import { count, namedObject, seconds, time } from './shapes.ts'

/** A receiver of notifications. */
export const receiver = namedObject('Receiver', {
  name: z.string(),
  pending: count.describe('Changes of alerts, and digests, that wait'),
  suppressed: count.describe('Further changes, of alerts that are not notified now'),
  oldest_pending_seconds: seconds.optional().describe('How long the oldest change of an alert has been waiting'),
  failing_since: time
    .optional()
    .describe('Since when nothing could be delivered; of several daemons, the one that delivers knows it'),
  problem: z
    .string()
    .optional()
    .describe('Why the last attempt failed, or why the receiver refused what it is offered again'),
  next_attempt: time.optional().describe('When the next attempt is due; absent while one is made'),
})
export type ReceiverView = z.output<typeof receiver>
export const receivers = namedObject('Receivers', { receivers: z.array(receiver) })

/** Since when nothing can be delivered, unless only some messages are refused; why, and when the next attempt is due (UNIX seconds by the host's clock). */
export type Failure = { since?: number; problem: string; next?: number }
type Configured = { name: string; failure?: Failure | undefined }

/**
 * @param contents what waits for it
 * @param suppressed the alerts that are not notified now, by their names (alert.ts)
 * @param now the host's clock (UNIX seconds)
 */
export function receiverView(
  { name, failure }: Configured,
  contents: readonly OutboxContent[],
  suppressed: ReadonlyMap<string, unknown>,
  now: number,
): ReceiverView {
  const due = contents.filter((content) => content.kind === 'digest' || !suppressed.has(nameOf(content)))
  const times = due.flatMap((content) => (content.kind === 'digest' ? [] : content.at))
  return {
    name,
    pending: due.length,
    suppressed: contents.length - due.length,
    ...(times.length > 0 && { oldest_pending_seconds: Math.max(0, now - times.reduce((a, b) => Math.min(a, b))) }),
    ...(failure !== undefined && {
      ...(failure.since !== undefined && { failing_since: isoTime(failure.since) }),
      problem: failure.problem,
      ...(failure.next !== undefined && failure.next > now && { next_attempt: isoTime(failure.next) }),
    }),
  }
}
