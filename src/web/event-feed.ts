import { randomBytes } from 'node:crypto'

/** An event of the live feed, as server-sent events carry it. */
export type FeedEvent = { readonly id: string; readonly event: 'transition' | 'alert' | 'reset'; readonly data: object }

/** The latest transitions and changes of alerts. It is a view in memory, not a log. */
export type EventFeed = {
  /** @param view makes the event's data when a client first needs it */
  publish: (event: 'transition' | 'alert', view: () => object) => void
  /**
   * The events after `lastId`; none where it is undefined. An id is `<boot>-<n>`. For an id that is unknown or too old
   * the answer is one `reset`.
   */
  since: (lastId: string | undefined) => FeedEvent[]
  /** The last `count` events, oldest first. */
  latest: (count: number) => FeedEvent[]
  /** Calls back for each new event until the returned function is called. */
  listen: (listener: (event: FeedEvent) => void) => () => void
}

/** An event; `shown` is made once, and shared by all clients. */
type Entry = { n: number; event: FeedEvent['event']; view: () => object; shown?: FeedEvent }

/** @param capacity how many events the feed keeps */
export function eventFeed(capacity = 10_000): EventFeed {
  const boot = randomBytes(4).toString('hex')
  const idOf = (n: number) => `${boot}-${n}`
  const shown = (entry: Entry): FeedEvent =>
    (entry.shown ??= { id: idOf(entry.n), event: entry.event, data: entry.view() })
  const entries: Entry[] = []
  const listeners = new Set<(event: FeedEvent) => void>()
  let published = 0
  return {
    publish: (event, view) => {
      published += 1
      const entry: Entry = { n: published, event, view }
      entries.push(entry)
      // Evicts in blocks: shifting a long array once per event would copy it each time.
      if (entries.length >= capacity * 1.2) entries.splice(0, entries.length - capacity)
      if (listeners.size === 0) return
      const newest = shown(entry)
      for (const listener of listeners) listener(newest)
    },
    since: (lastId) => {
      if (lastId === undefined) return []
      const [, of, n] = /^([0-9a-f]+)-(\d+)$/.exec(lastId) ?? []
      const missed = published - Number(n)
      if (of !== boot || missed < 0 || missed > Math.min(entries.length, capacity)) {
        return [{ id: idOf(published), event: 'reset', data: {} }]
      }
      return missed === 0 ? [] : entries.slice(-missed).map(shown)
    },
    latest: (count) => (count === 0 ? [] : entries.slice(-Math.min(count, capacity)).map(shown)),
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Formats an event for the stream (WHATWG HTML §9.2.5). */
export function formatEvent({ id, event, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

const encoded = new WeakMap<FeedEvent, Buffer>()

/** Encodes an event once; all clients get the same bytes. */
export function encodeEvent(event: FeedEvent): Buffer {
  const known = encoded.get(event)
  if (known !== undefined) return known
  const bytes = Buffer.from(formatEvent(event))
  encoded.set(event, bytes)
  return bytes
}
