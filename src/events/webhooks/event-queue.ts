import type { LogPlace, UndeliveredEvent } from '../../store/store.ts'
import { isBefore } from '../cursor.ts'

/** An event in the queue of a webhook. Times are by the host's monotonic clock (seconds). */
export type QueuedEvent = UndeliveredEvent & {
  /** The CloudEvent. Undefined while the event waits for a retry: it is read again when the retry is due. */
  text: string | undefined
  /** Whether the store lists it as undelivered, and whether that row is outdated. */
  isListed: boolean
  isChanged: boolean
  /** When its current request began. */
  sentAt?: number | undefined
}

/** An event that failed this often counts as failing. */
const FAILING_AFTER_ATTEMPTS = 3

/** A request that takes longer than this (seconds) does not hold back the cursor. */
const LONG_REQUEST_SECONDS = 2

export type EventQueue = ReturnType<typeof eventQueue>

/** Events that a webhook has not received yet. Only the first event of each series is sent; the others wait for it. */
export function eventQueue() {
  const order = sendOrder()
  /** Dead letters that the store does not list as such yet. */
  const dead = new Set<QueuedEvent>()
  let removed: LogPlace[] = []

  const forget = ({ position, place }: LogPlace) => void removed.push({ position, place })
  /** Removes an event that was delivered, or need not be delivered any more. */
  const done = (event: QueuedEvent): void => {
    order.drop(event)
    if (event.isListed) forget(event)
  }

  /**
   * What the store must list as undelivered so that the cursor can move on.
   *
   * @param isWhole lists every undelivered event, so that none is sent twice
   * @returns the `first` event that is not listed and must be read again after a crash, if there is one; the rows to `put` and to
   *   `remove`; and the `problem` why an event keeps failing
   */
  const checkpoint = (now: number, isWhole: boolean) => {
    const waiting = order.all()
    // Fresh events are read again after a crash. Only events that cannot be delivered soon are listed.
    const isFresh = (event: QueuedEvent) =>
      !isWhole &&
      event.attempts === 0 &&
      !event.isListed &&
      (order.isReady(event) || now - (event.sentAt ?? -Infinity) < LONG_REQUEST_SECONDS)
    const first = waiting.filter(isFresh).reduce<QueuedEvent | undefined>(earlier, undefined)
    const listed = [...waiting, ...dead].filter(
      (event) => !isFresh(event) && (first === undefined || isBefore(event, first)),
    )
    const put = listed
      .filter((event) => !event.isListed || event.isChanged)
      .map((event) => ({ event, row: rowOf(event) }))
    const problem = waiting.find(({ attempts }) => attempts >= FAILING_AFTER_ATTEMPTS)?.problem
    return { first, put, remove: [...removed], problem }
  }

  return {
    ...order,
    done,
    /** Makes an event a dead letter. */
    bury: (event: QueuedEvent): void => {
      order.drop(event)
      event.dead = true
      event.isChanged = true
      dead.add(event)
    },
    /** Removes events that were found before a time and are not being sent; returns their number. */
    expire: (before: number): number => {
      const expired = order.all().filter(({ at, sentAt }) => at < before && sentAt === undefined)
      expired.forEach(done)
      return expired.length
    },
    checkpoint,
    /** Call it after a checkpoint was saved. */
    stored: ({ put, remove }: ReturnType<typeof checkpoint>): void => {
      removed = removed.slice(remove.length)
      for (const { event, row } of put) {
        event.isListed = true
        // The event may have changed while the checkpoint was being saved.
        if (event.attempts === row.attempts && event.dead === row.dead) event.isChanged = false
        if (event.dead && row.dead) dead.delete(event)
        else if (!event.dead && !order.has(event)) forget(event)
        else if (event.sentAt === undefined && !order.isReady(event)) order.setText(event, undefined)
      }
    },
  }
}

/** Which event is sent next. */
function sendOrder() {
  const series = new Map<string, QueuedEvent[]>()
  /** First events of their series: those ready to send, and those that wait for a retry, with its time. */
  const ready = new Set<QueuedEvent>()
  const postponed = new Map<QueuedEvent, number>()
  let size = 0
  let withText = 0
  return {
    size: () => size,
    /** How many events have their text in memory. */
    withText: () => withText,
    setText: (event: QueuedEvent, text: string | undefined): void => {
      withText += Number(text !== undefined) - Number(event.text !== undefined)
      event.text = text
    },
    all: () => series.values().toArray().flat(),
    has: (event: QueuedEvent) => series.get(event.series)?.includes(event) ?? false,
    isReady: (event: QueuedEvent) => ready.has(event),
    /** Adds an event after the others of its series. */
    add: (event: QueuedEvent): void => {
      const queue = series.get(event.series) ?? []
      series.set(event.series, queue)
      queue.push(event)
      size += 1
      withText += Number(event.text !== undefined)
      if (queue.length === 1) ready.add(event)
    },
    drop: (event: QueuedEvent): void => {
      const queue = series.get(event.series)!
      const [head] = queue
      queue.splice(queue.indexOf(event), 1)
      size -= 1
      withText -= Number(event.text !== undefined)
      for (const set of [ready, postponed]) set.delete(event)
      const [next] = queue
      if (next === undefined) series.delete(event.series)
      else if (head === event) ready.add(next)
    },
    /** Takes the next event to send. */
    take: (now: number): QueuedEvent | undefined => {
      const [next] = ready
      if (next === undefined) return undefined
      ready.delete(next)
      next.sentAt = now
      return next
    },
    /** Retries an event at a time. */
    postpone: (event: QueuedEvent, due: number): void => {
      event.sentAt = undefined
      event.isChanged = true
      postponed.set(event, due)
    },
    /** Makes events ready whose retry is due. */
    wake: (now: number): void => {
      for (const [event, due] of postponed) {
        if (due > now) continue
        postponed.delete(event)
        ready.add(event)
      }
    },
  }
}

function rowOf(event: QueuedEvent): UndeliveredEvent {
  const { text: _text, isListed: _isListed, isChanged: _isChanged, sentAt: _sentAt, ...row } = event
  return row
}

function earlier(first: QueuedEvent | undefined, event: QueuedEvent): QueuedEvent {
  return first === undefined || isBefore(event, first) ? event : first
}
