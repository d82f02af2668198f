import type { Store, StoredWebhook } from '../../store/store.ts'
import { readCursor, START } from '../cursor.ts'

/** How far a webhook is: how many events wait, and since when the oldest does (UNIX seconds). */
export type WebhookProgress = Pick<StoredWebhook, 'name' | 'progress' | 'dead'> & {
  pending: number
  since: number | undefined
}

/** The webhooks in the store. A webhook that never ran is not there yet. */
export async function webhookProgress(
  store: Pick<Store, 'webhooks' | 'events' | 'latestEvents'>,
): Promise<WebhookProgress[]> {
  const stored = await store.webhooks()
  const [last] = stored.length === 0 ? [] : await store.latestEvents(0)
  return Promise.all(
    stored.map(async ({ name, progress, waiting, dead, oldest }) => {
      const unread = await unreadBy(store, progress.cursor, last?.total ?? 0)
      return { name, progress, dead, pending: waiting + unread.events, since: oldest?.at ?? unread.since }
    }),
  )
}

/** How many events follow a cursor, whether the webhook wants them or not, and when callwatch found the first of them (UNIX seconds). */
async function unreadBy(
  log: Pick<Store, 'events'>,
  cursor: string,
  total: number,
): Promise<{ events: number; since: number | undefined }> {
  const { position, place } = readCursor(cursor) ?? START
  // Events that were deleted before they were read are gone, so they are not pending.
  const [own, next] = await Promise.all([log.events(position, 0), log.events(position + 1, 0)])
  const [found, following] = [own[0], next[0]]
  if (found?.position === position) {
    const left = found.texts.length - 1 - place
    return { events: total - found.total + left, since: left > 0 ? found.at : following?.at }
  }
  const before = following === undefined ? total : following.total - following.texts.length
  return { events: total - before, since: following?.at }
}
