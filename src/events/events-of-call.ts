import type { RowReader } from '../store/row-reader.ts'
import { loggedEventsOf } from '../store/events.ts'
import { eventIn, type CloudEvent } from './read-events.ts'

/** How long before its first event a call may have been seen by the service's clock (seconds). */
const MAX_CLOCK_DIFFERENCE_SECONDS = 86_400
/** Commits with events of one call that are read at most. */
const MAX_COMMITS = 1000

/** What the log still has of a call, and since when it has everything. */
export type CallEvents = {
  /** The oldest first. */
  events: CloudEvent[]
  /** When the oldest event of the log was found (UNIX seconds by the host's clock); undefined of an empty log. */
  keptSince: number | undefined
}

/**
 * The events of one call that the log still has, without participants.
 *
 * @param firstSeen when callwatch saw the call first (UNIX seconds)
 * @throws {StoreError} when the store cannot be read now
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
