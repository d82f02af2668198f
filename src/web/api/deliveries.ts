import { webhookViews } from '../../events/webhooks/webhook-views.ts'
import { receivers, receiverView } from '../../views/receiver-status.ts'
import { webhooks } from '../../views/webhook-status.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

/** Delivery of each event webhook (docs/api.md). */
export const webhooksRoute = route(
  'GET /api/v1/webhooks',
  'Delivery of each event webhook',
  {
    answers: { 200: webhooks },
  },
  ({ store, wall }: WebOptions) =>
    async () => ({ webhooks: await webhookViews(store, wall()) }),
)

/** What cannot be delivered to each receiver. */
export const receiversRoute = route(
  'GET /api/v1/receivers',
  'The receivers of notifications, and what cannot be delivered to them',
  { answers: { 200: receivers } },
  (options: WebOptions) => async () => ({ receivers: receiverViews(options) }),
)

export const receiverViews = ({ receivers, wall }: WebOptions) => receivers().map((each) => receiverView(each, wall()))
