import { ServiceError } from '../service/service-error.ts'
import { AGREEING, type ClockDifference } from './clock-difference.ts'
import type { Poll } from './poll.ts'

/** Why a list that has shrunk is not believed. */
export function shrunkList({ size = 0 }: Poll, areUnknown: boolean): ServiceError {
  const listed = size === 0 ? 'an empty list' : `only ${size} calls`
  const why = areUnknown
    ? 'the calls that are missing are unknown as well: the next poll will tell'
    : 'the calls that are missing still exist: is its index being rebuilt?'
  return new ServiceError('invalid', `the service shows ${listed}, much less than before, though ${why}`)
}

/** Why nothing is counted yet: it is not known which of the two clocks is right. */
export function unsettledClock({ all, agreeing, undated }: ClockDifference): ServiceError {
  const minutes = Math.round((all.at(-1) ?? 0) / 60)
  const problem =
    all.length === 0
      ? `the service's answers show no Date: this host's clock is taken for the service's after ${AGREEING} of them (${undated} so far)`
      : `the service's clock and this host's differ by ${minutes} minutes, as its Date header has it: nothing is counted ` +
        `before ${AGREEING} answers in a row agree (${agreeing.length} so far); check this host's clock`
  return new ServiceError('invalid', problem)
}

/** @param seconds for how much longer the service asked to make no request */
export function askedToWait(seconds: number): ServiceError {
  const wait = Math.ceil(seconds)
  return new ServiceError('rate_limited', `the service asked to wait (Retry-After): no request for another ${wait} s`)
}

/** @param isEarly whether the poll was aborted before its deadline */
export function cutOff({ pages }: Poll, isEarly: boolean): ServiceError {
  const read = pages === 0 ? 'before the service answered' : `after ${pages} ${pages === 1 ? 'page' : 'pages'}`
  const what = isEarly ? 'was ended early (the target is released, or this daemon stops)' : 'reached its deadline'
  return new ServiceError('timeout', `the poll ${what} ${read}`)
}
