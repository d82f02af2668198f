import { randomBytes } from 'node:crypto'

/** One entry of the live feed, as server-sent events carry it. */
export type FeedEvent = { readonly id: string; readonly event: 'transition' | 'alert' | 'reset'; readonly data: object }

/** The latest transitions and alert changes: a view for those who look on, not a log. */
export type EventFeed = {
  /** @param view makes the entry's data, if anybody ever asks for it */
  publish: (event: 'transition' | 'alert', view: () => object) => void
  /**
   * What came after `lastId`, all that comes from now on without it; ids are `<boot>-<n>`. An id that is not known any
   * more gets one `reset`.
   */
  since: (lastId: string | undefined) => FeedEvent[]
  /** The last so many entries, the oldest first. */
  latest: (count: number) => FeedEvent[]
  /** Calls back for each new entry until the returned function is called. */
  listen: (listener: (event: FeedEvent) => void) => () => void
}

/** An entry, shown once somebody has asked for it: the same one to everybody. */
type Kept = { n: number; event: FeedEvent['event']; view: () => object; shown?: FeedEvent }

/** @param capacity how many entries are kept */
export function eventFeed(capacity = 10_000): EventFeed {
  const boot = randomBytes(4).toString('hex')
  const idOf = (n: number) => `${boot}-${n}`
  const shown = (entry: Kept): FeedEvent =>
    (entry.shown ??= { id: idOf(entry.n), event: entry.event, data: entry.view() })
  const kept: Kept[] = []
  const listeners = new Set<(event: FeedEvent) => void>()
  let published = 0
  return {
    publish: (event, view) => {
      published += 1
      const entry: Kept = { n: published, event, view }
      kept.push(entry)
      // Cut in blocks: taking one off the front of a long array for each entry would copy it each time.
      if (kept.length >= capacity * 1.2) kept.splice(0, kept.length - capacity)
      if (listeners.size === 0) return
      const told = shown(entry)
      for (const listener of listeners) listener(told)
    },
    since: (lastId) => {
      if (lastId === undefined) return []
      const [, of, n] = /^([0-9a-f]+)-(\d+)$/.exec(lastId) ?? []
      const missed = published - Number(n)
      if (of !== boot || missed < 0 || missed > Math.min(kept.length, capacity)) {
        return [{ id: idOf(published), event: 'reset', data: {} }]
      }
      return missed === 0 ? [] : kept.slice(-missed).map(shown)
    },
    latest: (count) => (count === 0 ? [] : kept.slice(-Math.min(count, capacity)).map(shown)),
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** An entry in the event stream's format (WHATWG HTML §9.2.5). */
export function formatEvent({ id, event, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

const encoded = new WeakMap<FeedEvent, Buffer>()

/** An entry as it is sent: encoded once, and the same bytes to everybody. */
export function encodeEvent(event: FeedEvent): Buffer {
  const known = encoded.get(event)
  if (known !== undefined) return known
  const bytes = Buffer.from(formatEvent(event))
  encoded.set(event, bytes)
  return bytes
}
