import { PassThrough } from 'node:stream'
import { encodeEvent, type FeedEvent } from './event-feed.ts'

/**
 * A client with more unsent bytes is disconnected; it resumes when it reconnects. The limit is larger than the whole
 * feed, so that no commit, however large, disconnects a client that reads.
 */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

/** Events that are written in one iteration of the event loop. */
const EVENTS_PER_TURN = 500

/** The event stream of one client. */
export type EventStream = {
  readonly stream: PassThrough
  send: (events: readonly FeedEvent[]) => void
  comment: (text: string) => void
}

/**
 * Sends events as fast as the client reads. The queue holds encoded events, which all clients share: a hundred clients
 * that do not read cost little more memory than one.
 *
 * @param greeting is sent before all events
 */
export function eventStream(greeting: string): EventStream {
  const stream = new PassThrough()
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let isPaused = false

  function write(): void {
    isPaused = false
    if (stream.destroyed || stream.writableEnded) return
    const block = waiting.slice(0, EVENTS_PER_TURN)
    if (block.length === 0) return
    waiting = waiting.slice(EVENTS_PER_TURN)
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
      if (waitingBytes > MAX_WAITING_BYTES) stream.destroy()
      else if (!isPaused) write()
    },
    // A client that has events left to read needs no sign of life.
    comment: (text) => void (isPaused || stream.write(`: ${text}\n\n`)),
  }
}
