import { isoTime } from '../../clock/times.ts'
import type { Store, StoredWebhook } from '../../store/store.ts'
import { readCursor, START } from '../cursor.ts'

export type WebhookView = Awaited<ReturnType<typeof webhookViews>>[number]

/** The webhooks in the store. A webhook that never ran is not there yet. */
export async function webhookViews(
  store: Pick<Store, 'webhooks' | 'events' | 'latestEvents'>,
  /** The host's clock (UNIX seconds). */
  now: number,
) {
  const stored = await store.webhooks()
  const [last] = stored.length === 0 ? [] : await store.latestEvents(0)
  return Promise.all(
    stored.map(async ({ name, progress, waiting, dead, oldest }) => {
      const unread = await unreadBy(store, progress.cursor, last?.total ?? 0)
      const since = oldest?.at ?? unread.since
      const { paused, problem, removedAt, deliveredAt, failingSince } = progress
      return {
        name,
        state: stateOf(progress),
        pending: waiting + unread.events,
        ...(since !== undefined && { oldest_pending_seconds: Math.max(0, now - since) }),
        dead_letters: dead,
        ...((paused ?? problem) !== undefined && { problem: paused ?? problem }),
        ...(failingSince !== undefined && { failing_since: isoTime(failingSince) }),
        ...(deliveredAt !== undefined && { last_delivered: isoTime(deliveredAt) }),
        ...(removedAt !== undefined && { removed_at: isoTime(removedAt) }),
      }
    }),
  )
}

type State = 'delivering' | 'failing' | 'paused' | 'removed'

function stateOf({ paused, removedAt, failingSince }: StoredWebhook['progress']): State {
  if (removedAt !== undefined) return 'removed'
  if (paused !== undefined) return 'paused'
  return failingSince === undefined ? 'delivering' : 'failing'
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
