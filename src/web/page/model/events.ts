import { loadCallAfter } from './calls.ts'
import { applyChange } from './snapshots.ts'
import { change, changeSoon, current, type FeedLine } from './state.ts'

/** The length of the feed, and how many past events it starts with. */
const MAX_LINES = 200
/** The pause before a new stream replaces one that the browser has closed. */
const RECONNECT_MS = 2000
/** A stream that says nothing for longer than two of its signs of life has no connection. */
const SILENCE_MS = 25_000

let source: EventSource | undefined
let timer: ReturnType<typeof setTimeout> | undefined
/** The id of the last event. */
let last = ''
/** How often the connection failed since it last worked. A stream may end once: it is opened again at once. */
let failures = 0

/** Receives events and what changes, while somebody can see the page. A new connection continues the feed, and has the whole state. */
export function receiveEvents() {
  const follow = () => {
    stop()
    if (!document.hidden) connect()
  }
  document.addEventListener('visibilitychange', follow)
  follow()
}

function stop() {
  source?.close()
  clearTimeout(timer)
}

function reconnectIn(milliseconds: number) {
  clearTimeout(timer)
  timer = setTimeout(() => {
    if (milliseconds === SILENCE_MS) fail()
    stop()
    connect()
  }, milliseconds)
}

function fail() {
  failures += 1
  if (failures > 1 || current().snapshot === undefined) change({ connected: false, now: performance.now() })
}

function connect() {
  const begin = last === '' ? `latest=${MAX_LINES}` : `after=${encodeURIComponent(last)}`
  const stream = new EventSource(`api/v1/events?state=true&${begin}`)
  source = stream
  reconnectIn(SILENCE_MS)
  stream.addEventListener('error', () => {
    fail()
    if (stream.readyState === EventSource.CLOSED) reconnectIn(RECONNECT_MS)
  })
  stream.addEventListener('state', ({ data }) => {
    failures = 0
    applyChange(JSON.parse(data))
    reconnectIn(SILENCE_MS)
  })
  for (const kind of ['call', 'alert'] as const) {
    stream.addEventListener(kind, ({ lastEventId: id, data: text }) => {
      const { type, time, data } = JSON.parse(text)
      add({ id, kind, type, time, data })
      if (kind === 'call') loadCallAfter(data)
    })
  }
  stream.addEventListener('reset', ({ lastEventId: id }) => add({ id, kind: 'gap' }))
}

function add(line: FeedLine) {
  last = line.id
  changeSoon({ feed: [line, ...current().feed].slice(0, MAX_LINES) })
}
