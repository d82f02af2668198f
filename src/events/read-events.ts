import type { LoggedEvents, Store } from '../store/store.ts'
import { after, before, START, writeCursor, type Cursor } from './cursor.ts'
import { readBody, type EventBody } from './event.ts'
import type { EventType } from './types.ts'

/** An event as readers get it. */
export type ReadEvent = {
  /** Of this event: a reader that has processed it continues after it. */
  cursor: string
  at: Cursor
  type: EventType
  /** What its order is kept with: those of one call, or the alerts of one target. */
  series: string
  /** By the host's clock (UNIX seconds). */
  foundAt: number
  id: string
  event: CloudEvent
}

/** Which events are wanted: those that meet all conditions given. */
export type EventFilter = {
  types?: readonly EventType[] | undefined
  targets?: readonly string[] | undefined
  sessionId?: string | undefined
  where?: (event: EventBody) => boolean
}

/** A part of the log, and the cursor after it. */
export type EventsPage = { events: ReadEvent[]; next: Cursor }

/** The events after a cursor are not known any more: they are expired, or the log is another one. */
export class CursorExpired extends Error {
  override readonly name = 'CursorExpired'
  /** From which all events that are still there are read. */
  readonly oldest: string

  constructor(oldest: Cursor) {
    super('the events after this cursor were deleted by events.retention, or the store was restored or replaced')
    this.oldest = writeCursor(oldest)
  }
}

export type ReadEventsOptions = {
  /** Where the reader is; undefined reads from the oldest event on. */
  cursor?: Cursor | undefined
  /** Events at most. */
  limit: number
  filter?: EventFilter
  /** Reads only up to the first commit that was found then or later (UNIX seconds by the host's clock). */
  until?: number
}

type Log = Pick<Store, 'events' | 'latestEvents'>

/** Events that are read from the store at a time, and at most for one page. */
const BATCH = 500
const MAX_READ = 20_000

/**
 * The next events after a cursor, in the order of the log. There may be more, also where there are none that are wanted: read
 * again with `next` until it stays the same.
 *
 * @throws {CursorExpired}
 * @throws {StoreError} when the store cannot be read
 */
export async function readEvents(
  log: Log,
  { cursor, limit, filter = {}, until = Infinity }: ReadEventsOptions,
): Promise<EventsPage> {
  const page: EventsPage = { events: [], next: cursor ?? START }
  for (let eventsRead = 0; ;) {
    const { position } = page.next
    const following = await log.events(position + 1, Math.min(limit, BATCH))
    // Afterwards: as long as the commit where the reader is has not been deleted, nothing behind it has.
    const hasPlace = cursor !== undefined || position > 0
    const [own] = hasPlace ? await log.events(position, 0) : []
    if (hasPlace) await expectPlace(log, page.next, own)
    const rows = own?.position === position ? [own, ...following] : following
    for (const row of rows) {
      if (row.at >= until) return page
      const first = row.position === position ? page.next.place + 1 : 0
      for (let place = first; place < row.texts.length; place++) {
        page.next = { position: row.position, id: row.id, place }
        const event = eventIn(row, place, filter)
        if (event !== undefined) page.events.push(event)
        eventsRead += 1
        if (page.events.length === limit || eventsRead === MAX_READ) return page
      }
    }
    if (following.length === 0) return page
  }
}

/** The event at a place of the log (JSON); undefined if it is not there any more. */
export async function readOne(log: Log, { position, place, id }: Cursor): Promise<string | undefined> {
  const [row] = await log.events(position, 0)
  const isThere = row?.position === position && row.id === id && place < row.texts.length
  return isThere ? JSON.stringify(eventIn(row, place, {})?.event) : undefined
}

/** The newest events, the oldest of them first, and the cursor after the newest one. */
export async function readLatest(log: Log, limit: number): Promise<EventsPage> {
  const rows = await log.latestEvents(limit)
  const last = rows.at(-1)
  const next = last === undefined ? START : after(last)
  if (limit === 0) return { events: [], next }
  const events = rows.flatMap((row) => row.texts.flatMap((_, place) => eventIn(row, place, {}) ?? []))
  return { events: events.slice(-limit), next }
}

/**
 * The cursor before the first event that was found since a moment (UNIX seconds by the host's clock), as if that clock never
 * stepped back; after the newest event where none was.
 */
export async function cursorSince(log: Log, since: number): Promise<Cursor> {
  let first = (await log.latestEvents(0)).at(-1)
  if (first === undefined) return START
  if (first.at < since) return after(first)
  // Of the events from `end` on, `first` is the first one.
  for (let [begin, end] = [1, first.position]; begin < end;) {
    const middle = Math.floor((begin + end) / 2)
    const row: LoggedEvents = (await log.events(middle, 0))[0] ?? first
    if (row.at < since) begin = row.position + 1
    else [first, end] = [row, middle]
  }
  return before(first)
}

/** @throws {CursorExpired} */
async function expectPlace(log: Log, cursor: Cursor, row: LoggedEvents | undefined): Promise<void> {
  const isKnown =
    cursor.position === 0
      ? row === undefined || row.position === 1
      : row?.position === cursor.position && row.id === cursor.id && cursor.place < row.texts.length
  if (isKnown) return
  const [oldest] = await log.events(1, 1)
  throw new CursorExpired(oldest === undefined ? START : before(oldest))
}

/** The event at a place of a commit; undefined where it is not wanted. */
export function eventIn(row: LoggedEvents, place: number, filter: EventFilter): ReadEvent | undefined {
  if (filter.targets?.includes(row.target) === false) return undefined
  const body = readBody(row.texts[place]!, row.participants?.[place] ?? '')
  if (filter.types?.includes(body.type) === false) return undefined
  if (filter.sessionId !== undefined && filter.sessionId !== body.subject) return undefined
  if (filter.where?.(body) === false) return undefined
  const at = { position: row.position, id: row.id, place }
  const id = `${row.id}-${place}`
  const series = `${row.target} ${body.subject ?? ''}`
  const { type } = body
  return { cursor: writeCursor(at), at, type, series, foundAt: row.at, id, event: cloudEvent(row, id, body) }
}

/** An event of the log as CloudEvents 1.0 has it (https://github.com/cloudevents/spec, JSON format). */
function cloudEvent({ target }: LoggedEvents, id: string, { type, subject, time, data }: EventBody) {
  return {
    specversion: '1.0' as const,
    id,
    source: `urn:callwatch:${encodeURIComponent(target)}`,
    type: `callwatch.${type}` as const,
    ...(subject !== undefined && { subject }),
    time,
    datacontenttype: 'application/json' as const,
    data,
  }
}

export type CloudEvent = ReturnType<typeof cloudEvent>
