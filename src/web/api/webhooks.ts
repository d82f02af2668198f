import type { FastifyInstance } from 'fastify'
import { webhookViews } from '../../events/webhooks/webhook-views.ts'
import type { Store } from '../../store/store.ts'
import { api, type RouteDescription } from './route.ts'

export type WebhooksRouteOptions = {
  store: Pick<Store, 'webhooks' | 'events' | 'latestEvents'>
  /** The host's clock (UNIX seconds). */
  wall: () => number
}

/** `/api/v1/webhooks`: how far each webhook of events is (docs/api.md). */
export function webhooksRoute(app: FastifyInstance, { store, wall }: WebhooksRouteOptions): void {
  const config: RouteDescription = { summary: 'How far each webhook of events is', answers: { 200: 'Webhooks' } }
  api(app).get('/api/v1/webhooks', { config }, async () => ({ webhooks: await webhookViews(store, wall()) }))
}
