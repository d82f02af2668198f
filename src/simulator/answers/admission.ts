import { errorReply, type Reply } from './http.ts'
import type { Switches } from '../switches.ts'

/** `fullAccess` allows every operation, `authOnly` only creating auth tokens. */
type Scope = 'fullAccess' | 'authOnly'

export type Keys = Record<Scope, string>

/** When requests of each key were admitted (UNIX seconds), oldest first. */
export type RateLimit = { perMinute: number; admitted: Map<string, number[]> }

/** The scope of the key of a request, or the service's refusal. */
export function authorize(keys: Keys, sent: string | undefined): Scope | Reply {
  if (!sent) return errorReply(401, 'AUTH_ERR_EMPTY_APIKEY', 'The header apikey is missing or empty.')
  if (sent === keys.fullAccess) return 'fullAccess'
  if (sent === keys.authOnly) return 'authOnly'
  return errorReply(401, 'AUTH_ERR_APIKEY_NOT_FOUND', 'The API key is not known.')
}

/**
 * Admits a request unless its key has already used up its number in the last 60 s. Refused requests do not count.
 * `retryAfter` is in whole seconds, at least 1.
 *
 * @param prefix of the limit's headers, which continue with `-Remaining` and `-Reset`
 */
export function admit(limit: RateLimit, key: string, at: number, prefix: Switches['rateLimitHeaders']) {
  const recent = (limit.admitted.get(key) ?? []).filter((time) => time > at - 60)
  const allowed = recent.length < limit.perMinute
  if (allowed) recent.push(at)
  limit.admitted.set(key, recent)
  const reset = (recent[0] ?? at) + 60
  // The published names differ from page to page. The limit itself is in the bare `X-Rate-Limit`.
  const headers: Record<string, string> = {
    [prefix === 'X-RateLimit' ? 'X-RateLimit-Limit' : prefix]: String(limit.perMinute),
    [`${prefix}-Remaining`]: String(limit.perMinute - recent.length),
    [`${prefix}-Reset`]: String(Math.ceil(reset)),
  }
  return { allowed, headers: prefix === 'absent' ? {} : headers, retryAfter: Math.max(1, Math.ceil(reset - at)) }
}
