import type { RateLimitWindow } from '../../../src/service/answer-headers.ts'

/** Lets requests through, as a service that counts them in one of these ways; what is left, or undefined for a 429. */
export type SharedLimit = (at: number) => RateLimitWindow | undefined

/** Begins anew each minute, or after so many seconds. */
export function windowedLimit(most: number, saysReset: boolean, seconds = 60): SharedLimit {
  let used = 0
  let window = 0
  return (at) => {
    const now = Math.floor(at / seconds)
    if (now > window) [window, used] = [now, 0]
    if (used >= most) return undefined
    used += 1
    const resetIn = saysReset ? seconds * (window + 1) - at : undefined
    return { remaining: most - used, resetIn, limit: undefined }
  }
}

/** As the simulator: the requests of the last minute count, and the reset is when the oldest of them no longer does. */
export function slidingLimit(most: number): SharedLimit {
  const admitted: number[] = []
  return (at) => {
    while (admitted[0]! <= at - 60) admitted.shift()
    if (admitted.length >= most) return undefined
    admitted.push(at)
    return { remaining: most - admitted.length, resetIn: admitted[0]! + 60 - at, limit: undefined }
  }
}

/** As a token bucket: each request is available again after its share of a minute. */
export function tokenBucket(most: number): SharedLimit {
  let [left, since] = [most, 0]
  return (at) => {
    ;[left, since] = [Math.min(most, left + ((at - since) * most) / 60), at]
    if (left < 1) return undefined
    left -= 1
    return { remaining: Math.floor(left), resetIn: undefined, limit: undefined }
  }
}

/** Begins anew each second, or after another length, and says when in whole seconds, as gateways do. */
export function gateway(most: number, seconds = 1): SharedLimit {
  const service = windowedLimit(most, true, seconds)
  return (at) => {
    const left = service(at)
    return left && { ...left, resetIn: Math.ceil(left.resetIn ?? 0), limit: most }
  }
}

/** The same limit without a time of its end. */
export function silent(service: SharedLimit): SharedLimit {
  return (at) => {
    const left = service(at)
    return left && { ...left, resetIn: undefined }
  }
}

/** The same limit, named in each answer. */
export function named(service: SharedLimit, limit: number): SharedLimit {
  return (at) => {
    const left = service(at)
    return left && { ...left, limit }
  }
}
