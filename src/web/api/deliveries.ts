import { webhookViews } from '../../events/webhooks/webhook-views.ts'
import { waitingContents } from '../../store/outbox.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import { receivers, receiverView } from '../../views/receiver-status.ts'
import { webhooks } from '../../views/webhook-status.ts'
import type { WebOptions } from '../server.ts'
import { liveAlerts } from './alerts.ts'
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

/** How many notifications wait for each receiver. */
export const receiversRoute = route(
  'GET /api/v1/receivers',
  'What waits for each receiver of notifications',
  { answers: { 200: receivers } },
  (options: WebOptions) => async () => ({ receivers: await receiverViews(options) }),
)

/** What is due is counted apart from what is suppressed. */
export async function receiverViews({ store, receivers, wall, ...options }: WebOptions) {
  const [waiting, now] = [await waitingContents(store), wall()]
  const suppressed =
    waiting.size === 0
      ? new Map()
      : options.suppressed(liveAlerts(options.targets), await store.silences(now).catch(onlyStoreErrors([])), waiting)
  return receivers().map((each) => receiverView(each, waiting.get(each.name) ?? [], suppressed, now))
}
