import { refresh } from './snapshots.js'
import { change, current } from './state.js'

/** @import { FeedLine } from './state.js' */

/** So many lines the feed keeps; so many of the past it begins with. */
const LINES = 200
/** Before a stream that the browser gave up is opened anew (milliseconds). */
const PAUSE = 2000

/** Follows the live feed for as long as the page is open. Where it was cut, the browser resumes it by the last id. */
export function followEvents() {
  change({ feed: [] })
  const source = new EventSource(`api/v1/events?latest=${LINES}`)
  source.addEventListener('open', () => void refresh())
  source.addEventListener('error', () => {
    // Whether there still is anybody to ask is what the page has to say at once.
    void refresh()
    if (source.readyState === EventSource.CLOSED) setTimeout(followEvents, PAUSE)
  })
  source.addEventListener('transition', ({ lastEventId: id, data }) => {
    add({ id, kind: 'transition', data: JSON.parse(data) })
  })
  source.addEventListener('alert', ({ lastEventId: id, data }) => {
    add({ id, kind: 'alert', data: JSON.parse(data) })
  })
  source.addEventListener('reset', ({ lastEventId: id }) => add({ id, kind: 'gap' }))
}

/** @param {FeedLine} line */
function add(line) {
  change({ feed: [line, ...current().feed].slice(0, LINES) })
  void refresh()
}
