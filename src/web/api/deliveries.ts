import { webhookViews } from '../../events/webhooks/webhook-views.ts'
import { receivers, receiverView } from '../../views/receiver-status.ts'
import { webhooks } from '../../views/webhook-status.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

/** How far each webhook of events is (docs/api.md). */
export const webhooksRoute = route(
  'GET /api/v1/webhooks',
  'How far each webhook of events is',
  {
    answers: { 200: webhooks },
  },
  ({ store, wall }: WebOptions) =>
    async () => ({ webhooks: await webhookViews(store, wall()) }),
)

/** How many notifications wait for each receiver. */
export const receiversRoute = route(
  'GET /api/v1/receivers',
  'What waits for each receiver of notifications',
  { answers: { 200: receivers } },
  (options: WebOptions) => async () => ({ receivers: await receiverViews(options) }),
)

export async function receiverViews(options: Pick<WebOptions, 'store' | 'receivers' | 'wall'>) {
  const [waiting, now] = [await options.store.waiting(), options.wall()]
  return options.receivers().map((each) => receiverView(each, waiting, now))
}
