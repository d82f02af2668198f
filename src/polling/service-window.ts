import type { Clock } from '../clock/clock.ts'
import type { RateLimitWindow } from '../service/answer-headers.ts'

/** The pace that leaves room in the service's own limit for others who use the same app. */
export type ServiceWindow = {
  /** A request is made. */
  count: () => void
  /** An answer says what is left. */
  note: (limit: RateLimitWindow) => void
  /** Requests a second that callwatch may make; Infinity while the service says nothing of a limit. */
  pace: () => number
}

/** The limits of the service are for a minute. What was said longer ago is out of date. */
const WINDOW_SECONDS = 60
/** What others use is measured over so long at least, and forgotten in about four times as long. */
const SPAN_SECONDS = 5
const KEPT = 0.75
/** Requests a second that are always made: without any, nobody would learn that there is room again. */
const LEAST = 2 / 60

/**
 * Half of what is left is for others: of a limit that counts the last minute, half of what is left at any time; of one that begins anew
 * each minute, half of what will be left when others go on as in the last seconds.
 */
export function serviceWindow(clock: Clock): ServiceWindow {
  let made = 0
  let last: { at: number; remaining: number; end: number } | undefined
  let span: { at: number; remaining: number; made: number } | undefined
  /** Requests a second of others. */
  let others = 0

  return {
    count: () => {
      made += 1
    },
    note: ({ remaining, resetIn }) => {
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
    pace: () => {
      const now = clock.monotonic()
      if (last === undefined || now - last.at > WINDOW_SECONDS) return Infinity
      const left = Math.max(0, last.end - now)
      const spare = last.remaining - others * left
      return Math.max(LEAST, Math.min(last.remaining / WINDOW_SECONDS, spare / Math.max(SPAN_SECONDS, left)) / 2)
    },
  }
}
