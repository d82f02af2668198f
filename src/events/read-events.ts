import type { LoggedEvents, Store } from '../store/store.ts'
import { idsFor, type SessionIds } from '../ledger/session-id.ts'
import type { RowReader } from '../store/sql.ts'
import { loggedEventsOf } from '../store/events.ts'
import { after, before, START, writeCursor, type Cursor } from './cursor.ts'
import { eventId, readBody } from './event.ts'
import { eventView, type EventBody, type EventType } from '../views/event.ts'

/** An event as readers get it. */
export type ReadEvent = NonNullable<ReturnType<typeof eventIn>>

/** Selects events: those that meet all given conditions. */
export type EventFilter = {
  types?: readonly EventType[] | undefined
  targets?: readonly string[] | undefined
  /** Selects the events of all calls of a session. */
  sessionIds?: SessionIds | undefined
  where?: (event: EventBody) => boolean
}

/** A part of the log, and the cursor after it. */
export type EventsPage = { events: ReadEvent[]; next: Cursor }

/** The events after a cursor no longer exist: they expired, or the log was restored or replaced. */
export class CursorExpired extends Error {
  override readonly name = 'CursorExpired'
  /** The cursor before the oldest event that still exists. */
  readonly oldest: string

  constructor(oldest: Cursor) {
    super('the events after this cursor were deleted by events.retention, or the store was restored or replaced')
    this.oldest = writeCursor(oldest)
  }
}

export type ReadEventsOptions = {
  /** Where the reader is; undefined for the start of the log. */
  cursor?: Cursor | undefined
  /** The most events to return. */
  limit: number
  filter?: EventFilter
  /** Stops at the first commit that was found at this time or later (UNIX seconds by the host's clock). */
  until?: number
}

type Log = Pick<Store, 'events' | 'latestEvents'>

/** How many events are read from the store at a time, and for one page at most. */
const BATCH = 500
const MAX_READ = 20_000

/**
 * The next events after a cursor, in the order of the log. There may be more, even if the page is empty: read again with
 * `next` until it stays the same.
 *
 * @throws {CursorExpired}
 * @throws {StoreError} if the store cannot be read
 */
export async function readEvents(
  log: Log,
  { cursor, limit, filter, until = Infinity }: ReadEventsOptions,
): Promise<EventsPage> {
  const page: EventsPage = { events: [], next: cursor ?? START }
  for (let eventsRead = 0; ;) {
    const following = await log.events(page.next.position + 1, Math.min(limit, BATCH))
    // Checked after reading: if the commit at the cursor still exists, no later commit has been deleted.
    const own = cursor !== undefined || page.next.position > 0 ? await commitAt(log, page.next) : []
    for (const [row, place] of placesAfter(page.next, [...own, ...following])) {
      if (row.at >= until) return page
      page.next = { position: row.position, id: row.id, place }
      const event = eventIn(row, place, filter)
      if (event !== undefined) page.events.push(event)
      eventsRead += 1
      if (page.events.length === limit || eventsRead === MAX_READ) return page
    }
    if (following.length === 0) return page
  }
}

/**
 * The commit of a cursor; none for the start of the log.
 *
 * @throws {CursorExpired}
 */
async function commitAt(log: Log, cursor: Cursor): Promise<LoggedEvents[]> {
  const [own] = await log.events(cursor.position, 0)
  if (own !== undefined && isAt(own, cursor)) return [own]
  if (cursor.position === 0 && (own === undefined || own.position === 1)) return []
  const [oldest] = await log.events(1, 1)
  throw new CursorExpired(oldest === undefined ? START : before(oldest))
}

/** Whether a commit has the event of a cursor. */
const isAt = (row: LoggedEvents, { position, id, place }: Cursor) =>
  row.position === position && row.id === id && place < row.texts.length

function* placesAfter({ position, place }: Cursor, rows: readonly LoggedEvents[]): Generator<[LoggedEvents, number]> {
  for (const row of rows) {
    for (let i = row.position === position ? place + 1 : 0; i < row.texts.length; i++) yield [row, i]
  }
}

/** The event at a place in the log (JSON); undefined if it no longer exists. */
export async function readOne(log: Log, cursor: Cursor): Promise<string | undefined> {
  const [row] = await log.events(cursor.position, 0)
  return row !== undefined && isAt(row, cursor) ? JSON.stringify(eventIn(row, cursor.place)?.event) : undefined
}

/** The newest events, oldest first, and the cursor after them. */
export async function readLatest(log: Log, limit: number): Promise<EventsPage> {
  const rows = await log.latestEvents(limit)
  const last = rows.at(-1)
  const next = last === undefined ? START : after(last)
  if (limit === 0) return { events: [], next }
  const events = rows.flatMap((row) => row.texts.flatMap((_, place) => eventIn(row, place) ?? []))
  return { events: events.slice(-limit), next }
}

/**
 * The cursor before the first event that was found at or after a time (UNIX seconds by the host's clock); if there is none,
 * the cursor after the newest event. Assumes that the clock was never set back.
 */
export async function cursorSince(log: Log, since: number): Promise<Cursor> {
  let first = (await log.latestEvents(0)).at(-1)
  if (first === undefined) return START
  if (first.at < since) return after(first)
  // The first commit at or after `end` is `first`.
  for (let [begin, end] = [1, first.position]; begin < end;) {
    const middle = Math.floor((begin + end) / 2)
    const row: LoggedEvents = (await log.events(middle, 0))[0] ?? first
    if (row.at < since) begin = row.position + 1
    else [first, end] = [row, middle]
  }
  return before(first)
}

/** The event at a place of a commit; undefined if the filter rejects it. */
function eventIn(row: LoggedEvents, place: number, filter: EventFilter = {}) {
  if (filter.targets?.includes(row.target) === false) return undefined
  const body = readBody(row.target, row.texts[place]!, row.participants?.[place] ?? '')
  if (!isWanted(row.target, body, filter)) return undefined
  const at: Cursor = { position: row.position, id: row.id, place }
  return {
    /** The cursor of this event. A reader that has processed the event continues after it. */
    cursor: writeCursor(at),
    at,
    type: body.type,
    /** Events of one series keep their order. A series is one call, or the alerts of one target. */
    series: `${row.target} ${body.subject ?? ''}`,
    /** When callwatch found it, by the host's clock (UNIX seconds). */
    foundAt: row.at,
    event: eventView(row.target, eventId(row.named ?? row.target, body, row.texts[place]!), body),
  }
}

function isWanted(target: string, body: EventBody, { types, sessionIds, where }: EventFilter): boolean {
  const { session_id = '' } = 'session_id' in body.data ? body.data : {}
  if (sessionIds !== undefined && !idsFor(target, sessionIds).includes(session_id)) return false
  return types?.includes(body.type) !== false && where?.(body) !== false
}

/** By the service's clock, callwatch may have seen a call this long before the call's first event (seconds). */
const MAX_CLOCK_DIFFERENCE_SECONDS = 86_400
/** The most commits with events of one call that are read. */
const MAX_COMMITS = 1000

/**
 * The events of one call that the log still has, without participants, oldest first; and when callwatch found the oldest event in the log
 * (UNIX seconds by the host's clock), undefined if the log is empty.
 *
 * @param firstSeen when callwatch first saw the call (UNIX seconds)
 * @throws {StoreError} if the store cannot be read now
 */
export async function eventsOfCall(
  store: RowReader,
  { target, id, firstSeen }: { target: string; id: string; firstSeen: number },
) {
  const text = `"subject":${JSON.stringify(id)}`
  const rows = await store.rows(
    `SELECT position, id, target, named, at, total, data, '' AS participants
    FROM callwatch.events
    WHERE at >= $1 AND target = $2 AND position IS NOT NULL AND data LIKE $3 ESCAPE '!'
    ORDER BY +position LIMIT ${MAX_COMMITS}`,
    [firstSeen - MAX_CLOCK_DIFFERENCE_SECONDS, target, `%${text.replaceAll(/[!%_]/g, '!$&')}%`],
  )
  const [oldest] = await store.rows('SELECT min(at) AS at FROM callwatch.events')
  const filter: EventFilter = { where: ({ subject }) => subject === id }
  const events = rows
    .map(loggedEventsOf)
    .flatMap((row) => row.texts.flatMap((_, place) => eventIn(row, place, filter)?.event ?? []))
  const at = oldest?.['at'] ?? null
  return { events, keptSince: at === null ? undefined : Number(at) }
}

/**
 * The log as readers may see it: without participants if events must not have them, even if the log has not erased them yet.
 */
export function shownLog(log: Log, hasParticipants: () => boolean): Log {
  const shown = (rows: LoggedEvents[]) =>
    hasParticipants() ? rows : rows.map(({ participants: _hidden, ...row }): LoggedEvents => row)
  return {
    events: async (...part) => shown(await log.events(...part)),
    latestEvents: async (most) => shown(await log.latestEvents(most)),
  }
}
