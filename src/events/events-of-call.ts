import type { RowReader } from '../store/row-reader.ts'
import { loggedEventsOf } from '../store/events.ts'
import { eventIn, type CloudEvent } from './read-events.ts'

/** By the service's clock, callwatch may have seen a call this long before the call's first event (seconds). */
const MAX_CLOCK_DIFFERENCE_SECONDS = 86_400
/** The most commits with events of one call that are read. */
const MAX_COMMITS = 1000

/** What the log still has of a call, and since when the log is complete. */
export type CallEvents = {
  /** Oldest first. */
  events: CloudEvent[]
  /** When callwatch found the oldest event in the log (UNIX seconds by the host's clock); undefined if the log is empty. */
  keptSince: number | undefined
}

/**
 * The events of one call that the log still has, without participants.
 *
 * @param firstSeen when callwatch first saw the call (UNIX seconds)
 * @throws {StoreError} if the store cannot be read now
 */
export async function eventsOfCall(
  store: RowReader,
  { target, id, firstSeen }: { target: string; id: string; firstSeen: number },
): Promise<CallEvents> {
  const text = `"subject":${JSON.stringify(id)}`
  const rows = await store.rows(
    `SELECT position, id, target, at, total, data, '' AS participants
    FROM callwatch.events
    WHERE at >= $1 AND target = $2 AND position IS NOT NULL AND data LIKE $3 ESCAPE '!'
    ORDER BY +position LIMIT ${MAX_COMMITS}`,
    [firstSeen - MAX_CLOCK_DIFFERENCE_SECONDS, target, `%${text.replaceAll(/[!%_]/g, '!$&')}%`],
  )
  const [oldest] = await store.rows('SELECT min(at) AS at FROM callwatch.events', [])
  const events = rows.map(loggedEventsOf).flatMap((row) =>
    row.texts.flatMap((_, place) => {
      const event = eventIn(row, place, { targets: [target], sessionId: id })
      return event === undefined ? [] : [event.event]
    }),
  )
  const at = oldest?.['at'] ?? null
  return { events, keptSince: at === null ? undefined : Number(at) }
}
