import * as z from 'zod'
import { isoTime } from '../../clock/times.ts'
import { webhookViews } from '../../events/webhooks/webhook-views.ts'
import type { WebOptions } from '../server.ts'
import { count, namedObject, seconds, time } from './parts.ts'
import { route } from './route.ts'

const webhook = namedObject('Webhook', {
  name: z.string(),
  state: z.enum(['delivering', 'failing', 'paused', 'removed']),
  pending: count,
  oldest_pending_seconds: seconds.optional(),
  dead_letters: count,
  problem: z.string().optional(),
  failing_since: time.optional(),
  last_delivered: time.optional(),
  removed_at: time.optional(),
})

const answer = namedObject('Webhooks', { webhooks: z.array(webhook) })

/** How far each webhook of events is (docs/api.md). */
export const webhooksRoute = route(
  'GET /api/v1/webhooks',
  'How far each webhook of events is',
  {
    answers: { 200: answer },
  },
  ({ store, wall }: WebOptions) =>
    async () => ({ webhooks: await webhookViews(store, wall()) }),
)

const receiver = namedObject('Receiver', {
  name: z.string(),
  pending: count.describe('Changes of alerts, and digests, that wait'),
  oldest_pending_seconds: seconds.optional().describe('How long the oldest change of an alert has been waiting'),
  failing_since: time
    .optional()
    .describe('Since when nothing could be delivered; of several daemons, the one that delivers knows it'),
  problem: z.string().optional().describe('Why the last attempt failed'),
})

export type ReceiverView = z.output<typeof receiver>

type ReceiversSource = Pick<WebOptions, 'store' | 'receivers' | 'wall'>

const receivers = namedObject('Receivers', { receivers: z.array(receiver) })

/** How many notifications wait for each receiver. */
export const receiversRoute = route(
  'GET /api/v1/receivers',
  'What waits for each receiver of notifications',
  { answers: { 200: receivers } },
  (options: WebOptions) => async () => ({ receivers: await receiverViews(options) }),
)

export async function receiverViews({ store, receivers: configured, wall }: ReceiversSource): Promise<ReceiverView[]> {
  const [waiting, now] = [await store.waiting(), wall()]
  return configured().map(({ name, failure }) => {
    const { pending, since } = waiting.get(name) ?? { pending: 0 }
    return {
      name,
      pending,
      ...(since !== undefined && { oldest_pending_seconds: Math.max(0, now - since) }),
      ...(failure !== undefined && { failing_since: isoTime(failure.since), problem: failure.problem }),
    }
  })
}
