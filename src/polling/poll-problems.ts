import { ServiceError } from '../service/service-error.ts'
import { formatSeconds } from '../text/format.ts'
import { AGREEING_ANSWERS, type ClockSkew } from './clock-skew.ts'
import type { RunningPoll } from './poll.ts'

/** The list has shrunk, and is not accepted yet. */
export function shrunkList({ ended }: RunningPoll, areUnknown: boolean): ServiceError {
  const size = ended?.reading.rows.seen.size ?? 0
  const listed = size === 0 ? 'an empty list' : `only ${size} calls`
  const why = areUnknown
    ? 'Get Call does not know the missing calls either: the next poll decides'
    : 'the missing calls still exist: is its index being rebuilt?'
  return new ServiceError('invalid', `the service shows ${listed}, much less than before; ${why}`)
}

/** The two clocks differ. Nothing is counted until it is known which one is right. */
export function unknownClockSkew({ all, agreeing, undated, mostAhead }: ClockSkew): ServiceError {
  const skew = all.at(-1) ?? 0
  const needed =
    skew > mostAhead
      ? 'that has lasted for an hour'
      : `${AGREEING_ANSWERS} answers in a row agree (${agreeing.length} so far)`
  const problem =
    all.length === 0
      ? `the service's answers have no Date header: after ${AGREEING_ANSWERS} of them callwatch uses this host's clock (${undated} so far)`
      : `the service's clock and this host's differ by ${formatSeconds(Math.abs(skew))}, by its Date header: nothing is counted ` +
        `before ${needed}; check this host's clock`
  return new ServiceError('invalid', problem)
}

/** A page that the service does not show may have calls that are not older than the horizon. */
export function refusedFrom(page: number, error: ServiceError): ServiceError {
  const problem = `the service refuses page ${page} and all after it: ${error.message}`
  return new ServiceError('refused', problem, { cause: error })
}

/** @param seconds left of the rate limit pause */
export function rateLimitPause(seconds: number): ServiceError {
  const wait = Math.ceil(seconds)
  return new ServiceError('rate_limited', `the service asked to wait (Retry-After): no request for another ${wait} s`)
}

/** @param isAborted whether the poll was aborted before its deadline */
export function endedEarly({ pages }: RunningPoll, isAborted: boolean): ServiceError {
  const read = pages === 0 ? 'before the service answered' : `after ${pages} ${pages === 1 ? 'page' : 'pages'}`
  const what = isAborted ? 'was ended early (the target is released, or this daemon stops)' : 'reached its deadline'
  return new ServiceError('timeout', `the poll ${what} ${read}`)
}
