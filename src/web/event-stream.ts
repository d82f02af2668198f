import { PassThrough } from 'node:stream'
import { encodeEvent, type FeedEvent } from './event-feed.ts'

/**
 * A client that lets this much wait (bytes) is too slow and is cut off; it resumes when it comes back. More than the
 * whole feed, so that no commit, however large, cuts off one that reads.
 */
const MOST_WAITING = 8 * 1024 * 1024

/** So many events are written in one turn of the event loop. */
const EVENTS_A_TURN = 500

/** One client's stream of events. */
export type EventStream = {
  readonly stream: PassThrough
  send: (events: readonly FeedEvent[]) => void
  comment: (text: string) => void
}

/**
 * Sends events as fast as the client reads. What waits is the encoded events that all clients share, not a copy for
 * each: a hundred clients that do not read cost little more than one.
 *
 * @param greeting comes before all events
 */
export function eventStream(greeting: string): EventStream {
  const stream = new PassThrough()
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let isPaused = false

  function write(): void {
    isPaused = false
    if (stream.destroyed || stream.writableEnded) return
    const block = waiting.slice(0, EVENTS_A_TURN)
    if (block.length === 0) return
    waiting = waiting.slice(EVENTS_A_TURN)
    const bytes = Buffer.concat(block)
    waitingBytes -= bytes.length
    const isRead = stream.write(bytes)
    if (isRead && waiting.length === 0) return
    isPaused = true
    if (isRead) setImmediate(write)
    else stream.once('drain', write)
  }

  stream.write(greeting)
  return {
    stream,
    send: (events) => {
      for (const event of events) {
        const bytes = encodeEvent(event)
        waiting.push(bytes)
        waitingBytes += bytes.length
      }
      if (waitingBytes > MOST_WAITING) stream.destroy()
      else if (!isPaused) write()
    },
    // A client that has yet to read what came before knows that callwatch is there.
    comment: (text) => void (isPaused || stream.write(`: ${text}\n\n`)),
  }
}
