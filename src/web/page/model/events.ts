import { loadCallAfter } from './calls.ts'
import { applyChange } from './snapshots.ts'
import { change, changeSoon, type FeedLine } from './state.ts'

/** The length of the feed. */
const MAX_LINES = 200
/** The pause before a new connection. */
const RECONNECT_MS = 2000
/** A stream that says nothing for longer than two of its signs of life has no connection. */
const SILENCE_MS = 25_000
/** A stream of which nothing comes within this time is kept back by a proxy, or callwatch does not answer. */
const FIRST_MS = 6000
/** How often the page then asks, with streams that end soon, before it tries an endless one again. */
const ASKS = 10
const TICK_MS = 1000
/** After a longer pause between two ticks, the machine was asleep, and the connection is probably gone. */
const ASLEEP_MS = 5000

let source: EventSource | undefined
/** How many more times the page asks. */
let asks = 0
let timer: ReturnType<typeof setTimeout> | undefined
/** Whether the next failure shows. A stream may end once, as the one of a proxy does after some time. */
let isDoubtful = true

/** Receives events and what changes, while somebody can see the page. Each connection begins with the whole state and the newest events. */
export function receiveEvents() {
  const follow = () => {
    disconnect()
    isDoubtful = true
    change({ isWaiting: true })
    if (!document.hidden) connect()
  }
  document.addEventListener('visibilitychange', follow)
  let ticked = Date.now()
  setInterval(() => {
    const now = Date.now()
    if (now - ticked > ASLEEP_MS && !document.hidden) follow()
    ticked = now
  }, TICK_MS)
  follow()
}

function disconnect() {
  source?.close()
  clearTimeout(timer)
}

/** Nothing is heard for so long that what is shown may not be true any more. Before the page says so, it asks. */
function expectNews(ms: number) {
  clearTimeout(timer)
  timer = setTimeout(() => {
    isDoubtful = true
    if (asks > 0) return fail()
    asks = ASKS
    disconnect()
    connect()
  }, ms)
}

function fail() {
  disconnect()
  if (isDoubtful) {
    change({ connected: false, isWaiting: false, now: performance.now() })
    // A stream does not say why it has failed.
    void fetch('./', { method: 'HEAD', cache: 'no-store' }).then(
      ({ status }) => change({ needsPassword: status === 401 }),
      () => change({ needsPassword: false }),
    )
  }
  isDoubtful = true
  asks = Math.max(0, asks - 1)
  timer = setTimeout(connect, RECONNECT_MS)
}

function connect() {
  const stream = new EventSource(`api/v1/events?state=${asks > 0 ? 'once' : 'true'}&latest=${MAX_LINES}`)
  source = stream
  expectNews(asks > 0 ? SILENCE_MS : FIRST_MS)
  // The browser would continue with all events since the last one.
  stream.addEventListener('error', fail)
  stream.addEventListener('state', ({ data }) => {
    applyChange(JSON.parse(data))
    isDoubtful = false
    expectNews(SILENCE_MS)
  })
  let feed: FeedLine[] = []
  const add = (line: FeedLine) => {
    feed = [line, ...feed].slice(0, MAX_LINES)
    changeSoon({ feed })
  }
  for (const kind of ['call', 'alert'] as const) {
    stream.addEventListener(kind, ({ lastEventId: id, data: text }) => {
      const { type, time, data } = JSON.parse(text)
      add({ id, kind, type, time, data })
      if (kind === 'call') loadCallAfter(data)
    })
  }
}
