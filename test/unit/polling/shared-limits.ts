import type { RateLimitWindow } from '../../../src/service/answer-headers.ts'

/** Lets requests through, as a service that counts them in one of these ways; what is left, or undefined for a 429. */
export type SharedLimit = (at: number) => RateLimitWindow | undefined

/** Begins anew each minute. */
export function windowedLimit(most: number, saysReset: boolean): SharedLimit {
  let used = 0
  let window = 0
  return (at) => {
    if (Math.floor(at / 60) > window) [window, used] = [Math.floor(at / 60), 0]
    if (used >= most) return undefined
    used += 1
    return { remaining: most - used, resetIn: saysReset ? 60 * (window + 1) - at : undefined, limit: undefined }
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

/** Begins anew each second, and says so in whole seconds, as gateways do. */
export function eachSecond(most: number): SharedLimit {
  let [used, second] = [0, 0]
  return (at) => {
    if (Math.floor(at) > second) [second, used] = [Math.floor(at), 0]
    if (used >= most) return undefined
    used += 1
    return { remaining: most - used, resetIn: 1, limit: undefined }
  }
}

/** The same limit without a time of its end. */
export function silent(service: SharedLimit): SharedLimit {
  return (at) => {
    const left = service(at)
    return left && { ...left, resetIn: undefined }
  }
}
