import * as z from 'zod'
import { webhookViews } from '../../events/webhooks/webhook-views.ts'
import { count, namedObject, seconds, time } from './parts.ts'
import { route } from './route.ts'
import type { WebOptions } from '../server.ts'

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
