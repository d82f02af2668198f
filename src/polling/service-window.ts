import type { Clock } from '../clock/clock.ts'
import type { RateLimitWindow } from '../service/answer-headers.ts'

/** The service's limits are per minute, unless its answers show a shorter window. An older answer is outdated (seconds). */
const WINDOW_SECONDS = 60
/** The use by others is measured over at least this long, and forgotten in about four times as long (seconds). */
const SPAN_SECONDS = 5
const KEPT = 0.75
/** If the service does not say when a window ends, an increase by more than this part of the limit is a new window. */
const INCREASE = 0.1
/** Requests a second that are always made. Without any, callwatch would not notice that the limit allows more again. */
const LEAST = 2 / 60

/** What one answer said. `limit` is the number of requests in a window, or the largest that was ever left; the times are ours. */
type Window = { at: number; remaining: number; limit: number; start: number; end: number }

/**
 * Takes half of what others leave of the service's own limit. Several daemons take this half together, each its share.
 *
 * A service limits the requests of the last minute, or those since its window began. callwatch cannot see which, so its pace is
 * the lower one of both.
 */
export function serviceWindow(clock: Clock) {
  /** When the requests of the last minute were answered, oldest first. */
  let answered: number[] = []
  let last: Window | undefined
  let share = 1
  let pace = Infinity
  const length = windowLength()
  const others = useByOthers()

  const current = () => (last === undefined || clock.monotonic() - last.at > WINDOW_SECONDS ? Infinity : pace)
  const after = (time: number) => answered.filter((at) => at > time).length

  function windowOf(at: number, { remaining, resetIn, limit = 0 }: RateLimitWindow): Window {
    const seconds = length.seconds()
    const before = last ?? { remaining, limit: 0, start: at, end: at - WINDOW_SECONDS }
    const most = Math.max(limit, before.limit, remaining + 1)
    const isRenewed = resetIn === undefined && remaining > before.remaining + INCREASE * most
    const next = at < before.end + seconds ? before.end : at
    const begun = at >= before.end ? next : isRenewed ? at : before.start
    const end = resetIn === undefined ? begun + seconds : at + Math.min(resetIn, seconds)
    return { at, remaining, limit: most, end, start: Math.max(begun, end - seconds) }
  }

  /** Requests a second. */
  function paceIn({ at, remaining, start, end }: Window): number {
    // Daemons that each take this part of what all others leave take half of it together.
    const part = share / (1 + share)
    const seconds = length.seconds()
    const steady = (part * (remaining + after(at - seconds))) / seconds
    const left = end - at
    const own = after(start)
    const spare = remaining + own - others.perSecond() * left
    return Math.max(LEAST, Math.min(steady, (part * spare - own) / Math.max(left, Math.min(SPAN_SECONDS, seconds))))
  }

  return {
    /** The share of the half that this daemon takes (0 to 1). */
    setShare: (part: number) => {
      share = part
    },
    /** Call it when an answer says how much is left. */
    note: (limit: RateLimitWindow) => {
      const at = clock.monotonic()
      answered = [...answered.filter((time) => time > at - WINDOW_SECONDS), at]
      others.note(at, limit.remaining)
      last = windowOf(at, limit)
      length.note(last, limit, answered.length)
      pace = paceIn(last)
    },
    /** How many requests a second callwatch may make; Infinity while the service reports no limit. */
    pace: current,
    /** How many requests may be made at once. */
    burst: () => (current() * length.seconds()) / 10,
  }
}

/**
 * How long a window is: a minute, unless the answers of a minute rule that out. If each of them says that the limit resets within
 * a second, either the window is a second, or the service counts the requests of the last minute, and one of them ceases to count
 * each second. But then a minute's requests count.
 */
function windowLength() {
  let seconds = WINDOW_SECONDS
  let minute = { since: 0, used: 0, reset: WINDOW_SECONDS }
  return {
    seconds: () => seconds,
    /** @param own how many requests callwatch has made in the last minute */
    note: ({ at, remaining, limit }: Window, said: RateLimitWindow, own: number) => {
      if (at - minute.since >= WINDOW_SECONDS) {
        const { used, reset } = minute
        const least = Math.max(own, said.limit === undefined ? 0 : WINDOW_SECONDS / reset)
        seconds = used < least ? reset : WINDOW_SECONDS
        minute = { since: at, used: 0, reset: 1 }
      }
      const resetIn = Math.min(said.resetIn ?? WINDOW_SECONDS, WINDOW_SECONDS)
      minute = { ...minute, used: Math.max(minute.used, limit - remaining), reset: Math.max(minute.reset, resetIn) }
      seconds = Math.max(seconds, resetIn)
    },
  }
}

/** Measures the requests of others: by how much more the service counts than callwatch has made. */
function useByOthers() {
  let requests = 0
  let span: { at: number; remaining: number; requests: number } | undefined
  let perSecond = 0
  return {
    /** Call it for each answer. */
    note: (at: number, remaining: number) => {
      requests += 1
      span ??= { at, remaining, requests }
      if (at - span.at < SPAN_SECONDS) return
      const used = Math.max(0, span.remaining - remaining - (requests - span.requests)) / (at - span.at)
      perSecond = used > perSecond ? used : perSecond * KEPT + used * (1 - KEPT)
      span = { at, remaining, requests }
    },
    perSecond: () => perSecond,
  }
}
