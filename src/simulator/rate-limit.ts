import type { Switches } from './switches.ts'

/** When requests of one key were let through, in seconds since 1970, oldest first. */
export type RateLimit = { perMinute: number; admitted: Map<string, number[]> }

/** `reset` in seconds since 1970, `retryAfter` in whole seconds, at least 1. */
export type Admission = { allowed: boolean; headers: Record<string, string>; retryAfter: number }

/**
 * Lets a request through unless the key had its number within the last 60 s; what is refused does not count.
 *
 * @param prefix what the names of the limit's headers begin with: `-Remaining` and `-Reset` follow
 */
export function admit(limit: RateLimit, key: string, at: number, prefix: Switches['rateLimitHeaders']): Admission {
  const recent = (limit.admitted.get(key) ?? []).filter((time) => time > at - 60)
  const allowed = recent.length < limit.perMinute
  if (allowed) recent.push(at)
  limit.admitted.set(key, recent)
  const reset = (recent[0] ?? at) + 60
  return {
    allowed,
    headers: headersOf(limit.perMinute, limit.perMinute - recent.length, Math.ceil(reset), prefix),
    retryAfter: Math.max(1, Math.ceil(reset - at)),
  }
}

/** The published names differ from page to page: the limit itself stands under the bare `X-Rate-Limit`. */
function headersOf(
  most: number,
  remaining: number,
  reset: number,
  prefix: Switches['rateLimitHeaders'],
): Record<string, string> {
  if (prefix === 'absent') return {}
  return {
    [prefix === 'X-RateLimit' ? 'X-RateLimit-Limit' : prefix]: String(most),
    [`${prefix}-Remaining`]: String(remaining),
    [`${prefix}-Reset`]: String(reset),
  }
}
