import type { Store } from '../../store/store.ts'
import { webhookView, type WebhookView } from '../../views/state/webhook-status.ts'
import { readCursor, START } from '../cursor.ts'

/**
 * The webhooks in the store. A webhook that never ran is not there yet.
 *
 * @param now the host's clock (UNIX seconds)
 */
export async function webhookViews(
  store: Pick<Store, 'webhooks' | 'events' | 'latestEvents'>,
  now: number,
): Promise<WebhookView[]> {
  const stored = await store.webhooks()
  const [last] = stored.length === 0 ? [] : await store.latestEvents(0)
  return Promise.all(
    stored.map(async (webhook) => {
      const unread = await unreadBy(store, webhook.progress.cursor, last?.total ?? 0)
      const waiting = { pending: webhook.waiting + unread.events, since: webhook.oldest?.at ?? unread.since }
      return webhookView(webhook, waiting, now)
    }),
  )
}

/** How many events follow a cursor, whether the webhook wants them or not, and when callwatch found the first of them (UNIX seconds). */
async function unreadBy(log: Pick<Store, 'events'>, cursor: string, total: number) {
  const { position, place } = readCursor(cursor) ?? START
  const [[own], [next]] = await Promise.all([log.events(position, 0), log.events(position + 1, 0)])
  const left = own?.position === position ? own.texts.length - 1 - place : 0
  // Events that were deleted before they were read are gone, so they are not pending.
  const after = next === undefined ? 0 : total - next.total + next.texts.length
  return { events: left + after, since: left > 0 ? own?.at : next?.at }
}
