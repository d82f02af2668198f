import { errorReply, type Reply } from './http.ts'
import type { Switches } from '../switches.ts'

/** `fullAccess`: every operation. `authOnly`: only creating auth tokens. */
type Scope = 'fullAccess' | 'authOnly'

export type Keys = Record<Scope, string>

/** When requests of one key were let through, in seconds since 1970, oldest first. */
export type RateLimit = { perMinute: number; admitted: Map<string, number[]> }

/** The scope of the key that was sent, or the service's refusal. */
export function authorize(keys: Keys, sent: string | undefined): Scope | Reply {
  if (!sent) return errorReply(401, 'AUTH_ERR_EMPTY_APIKEY', 'The header apikey is missing or empty.')
  if (sent === keys.fullAccess) return 'fullAccess'
  if (sent === keys.authOnly) return 'authOnly'
  return errorReply(401, 'AUTH_ERR_APIKEY_NOT_FOUND', 'The API key is not known.')
}

/**
 * Lets a request through unless the key had its number within the last 60 s; refused ones do not count. `retryAfter` in
 * whole seconds, at least 1.
 *
 * @param prefix what the names of the limit's headers begin with: `-Remaining` and `-Reset` follow
 */
export function admit(limit: RateLimit, key: string, at: number, prefix: Switches['rateLimitHeaders']) {
  const recent = (limit.admitted.get(key) ?? []).filter((time) => time > at - 60)
  const allowed = recent.length < limit.perMinute
  if (allowed) recent.push(at)
  limit.admitted.set(key, recent)
  const reset = (recent[0] ?? at) + 60
  // The published names differ from page to page: the limit itself is in the bare `X-Rate-Limit`.
  const headers: Record<string, string> = {
    [prefix === 'X-RateLimit' ? 'X-RateLimit-Limit' : prefix]: String(limit.perMinute),
    [`${prefix}-Remaining`]: String(limit.perMinute - recent.length),
    [`${prefix}-Reset`]: String(Math.ceil(reset)),
  }
  return { allowed, headers: prefix === 'absent' ? {} : headers, retryAfter: Math.max(1, Math.ceil(reset - at)) }
}
