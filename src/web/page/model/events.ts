import { loadCallAfter } from './calls.ts'
import { refresh } from './snapshots.ts'
import { change, current, type FeedLine } from './state.ts'

/** The length of the feed, and how many past events it starts with. */
const MAX_LINES = 200
/** The pause before a new stream replaces one that the browser has closed. */
const RECONNECT_MS = 2000

/** Receives the live feed while the page is open. After a lost connection the browser resumes it by the last id. */
export function receiveEvents() {
  change({ feed: [] })
  const source = new EventSource(`api/v1/events?latest=${MAX_LINES}`)
  source.addEventListener('open', () => void refresh())
  source.addEventListener('error', () => {
    // A snapshot finds out at once whether callwatch still answers.
    void refresh()
    if (source.readyState === EventSource.CLOSED) setTimeout(receiveEvents, RECONNECT_MS)
  })
  for (const kind of ['call', 'alert'] as const) {
    source.addEventListener(kind, ({ lastEventId: id, data: text }) => {
      const { type, time, data } = JSON.parse(text)
      add({ id, kind, type, time, data })
      if (kind === 'call') loadCallAfter(data)
    })
  }
  source.addEventListener('reset', ({ lastEventId: id }) => add({ id, kind: 'gap' }))
}

function add(line: FeedLine) {
  change({ feed: [line, ...current().feed].slice(0, MAX_LINES) })
  void refresh()
}
