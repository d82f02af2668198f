/** When requests of one key were let through, in seconds since 1970, oldest first. */
export type RateLimit = { perMinute: number; admitted: Map<string, number[]> }

/** `reset` in seconds since 1970, `retryAfter` in whole seconds, at least 1. */
export type Admission = { allowed: boolean; headers: Record<string, string>; retryAfter: number }

/** Lets a request through unless the key had its number within the last 60 s; what is refused does not count. */
export function admit(limit: RateLimit, key: string, at: number): Admission {
  const recent = (limit.admitted.get(key) ?? []).filter((time) => time > at - 60)
  const allowed = recent.length < limit.perMinute
  if (allowed) recent.push(at)
  limit.admitted.set(key, recent)
  const reset = (recent[0] ?? at) + 60
  return {
    allowed,
    headers: {
      'X-RateLimit-Limit': String(limit.perMinute),
      'X-RateLimit-Remaining': String(limit.perMinute - recent.length),
      'X-RateLimit-Reset': String(Math.ceil(reset)),
    },
    retryAfter: Math.max(1, Math.ceil(reset - at)),
  }
}
