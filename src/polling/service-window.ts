import type { Clock } from '../clock/clock.ts'
import type { RateLimitWindow } from '../service/answer-headers.ts'

/** The service's limits are per minute. An older report is outdated (seconds). */
const WINDOW_SECONDS = 60
/** The use by others is measured over at least this long, and forgotten in about four times as long (seconds). */
const SPAN_SECONDS = 5
const KEPT = 0.75
/** Requests a second that are always made. Without any, callwatch would not notice that the limit allows more again. */
const LEAST = 2 / 60

/**
 * Leaves half of the service's own remaining limit to other users of the app. For a limit over the last minute: half of what is left at
 * any time. For a limit that restarts each minute: half of what will be left if others continue as in the last seconds.
 */
export function serviceWindow(clock: Clock) {
  let made = 0
  let last: { at: number; remaining: number; end: number } | undefined
  let span: { at: number; remaining: number; made: number } | undefined
  /** Requests a second of other users. */
  let others = 0

  return {
    /** Call it for each request. */
    count: () => {
      made += 1
    },
    /** Call it when an answer says how much is left. */
    note: ({ remaining, resetIn }: RateLimitWindow) => {
      const at = clock.monotonic()
      const isNew = last === undefined || last.end <= at || remaining > last.remaining
      const end = isNew ? at + WINDOW_SECONDS : last!.end
      last = { at, remaining, end: resetIn === undefined ? end : at + Math.min(resetIn, WINDOW_SECONDS) }
      span ??= { at, remaining, made }
      if (at - span.at < SPAN_SECONDS) return
      const used = Math.max(0, span.remaining - remaining - (made - span.made)) / (at - span.at)
      others = used > others ? used : others * KEPT + used * (1 - KEPT)
      span = { at, remaining, made }
    },
    /** How many requests a second callwatch may make; Infinity while the service reports no limit. */
    pace: () => {
      const now = clock.monotonic()
      if (last === undefined || now - last.at > WINDOW_SECONDS) return Infinity
      const left = Math.max(0, last.end - now)
      const spare = last.remaining - others * left
      return Math.max(LEAST, Math.min(last.remaining / WINDOW_SECONDS, spare / Math.max(SPAN_SECONDS, left)) / 2)
    },
  }
}
