import type { Clock } from '../clock/clock.ts'
import type { RateLimitWindow } from '../service/answer-headers.ts'

/** The service's limits are per minute, unless it names another window. An older answer is outdated (seconds). */
const MINUTE = 60
/** The oldest answers that count if windows are longer (seconds). */
const HOUR = 3600
/** The use by others is measured over at least this long (seconds). */
const SPAN = 5
/** Requests a second that are always made. Without any, callwatch would not notice that the limit allows more again. */
const LEAST = 2 / 60

/**
 * Takes a part of the service's own limit: of the fewest requests that were left in the last window, or will be left at its end,
 * and its own. A daemon with the share s takes s ÷ (1 + s), so that all daemons together take half of what others leave.
 */
export function serviceWindow(clock: Clock) {
  /** Oldest first. */
  let answers: { at: number; remaining: number; reset: number }[] = []
  /** How long a window is, and what others leave in one. */
  let [seconds, left] = [MINUTE, Infinity]
  let shortUntil = 0
  let share = 1

  const since = (time: number) => answers.filter(({ at }) => at > time).length

  /** Requests a second. */
  function pace(): number {
    const isOutdated = clock.monotonic() - (answers.at(-1)?.at ?? -Infinity) > MINUTE
    return isOutdated ? Infinity : Math.max(LEAST, ((share / (1 + share)) * left) / seconds)
  }

  return {
    /** The share of the half that this daemon takes (0 to 1). */
    setShare: (part: number) => {
      share = part
    },
    /** Call it when an answer says how much is left. */
    note: ({ remaining, resetIn, limit = Infinity }: RateLimitWindow) => {
      const at = clock.monotonic()
      const answer = { at, remaining, reset: Math.max(1, resetIn ?? MINUTE) }
      const oldest = at - Math.min(Math.max(MINUTE, seconds), HOUR)
      answers = [...answers.filter((each) => each.at > oldest), answer]
      const longest = answers.reduce((most, { reset }) => Math.max(most, reset), 0)
      // A service that counts the requests of the last minute may name the time until the oldest of them ceases to count. Then at
      // least one counts for each such time, and all that callwatch has made. If fewer do, its windows are shorter than a minute.
      const counting = Math.max(MINUTE / longest, since(at - (MINUTE - answer.reset)) / 2)
      if (limit - remaining < counting) shortUntil = at + answer.reset
      seconds = at < shortUntil ? longest : Math.max(MINUTE, longest)

      const last = answers.filter((each) => each.at > at - seconds)
      const begun = last.reduce((most, each) => (each.remaining > most.remaining ? each : most))
      const span = at - begun.at
      const others = Math.max(0, begun.remaining - remaining - since(begun.at)) / Math.max(SPAN, span)
      const atEnd = remaining - others * (resetIn ?? MINUTE - span)
      left = last.reduce((fewest, each) => Math.min(fewest, each.remaining), atEnd) + last.length
    },
    /** How many requests a second callwatch may make; Infinity while the service reports no limit. */
    pace,
    /** How many requests may be made at once. */
    burst: () => (pace() * seconds) / 10,
  }
}
