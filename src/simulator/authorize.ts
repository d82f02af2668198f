import { errorReply } from './reply.ts'
import type { Reply } from './reply.ts'

/** `fullAccess`: every operation. `authOnly`: only creating auth tokens. */
export type Scope = 'fullAccess' | 'authOnly'

export type Keys = Record<Scope, string>

/** The scope of the key that was sent, or the service's refusal. */
export function authorize(keys: Keys, sent: string | undefined): { scope: Scope } | { refusal: Reply } {
  if (!sent) {
    return { refusal: errorReply(401, 'AUTH_ERR_EMPTY_APIKEY', 'The header apikey is missing or empty.') }
  }
  if (sent === keys.fullAccess) return { scope: 'fullAccess' }
  if (sent === keys.authOnly) return { scope: 'authOnly' }
  return { refusal: errorReply(401, 'AUTH_ERR_APIKEY_NOT_FOUND', 'The API key is not known.') }
}
