import { isMap } from '../schema/path.ts'
import { networkError, ServiceError } from './service-error.ts'
import { readAnswer } from './read-answer.ts'
import type { Transport } from './transport.ts'

/**
 * Creates an auth token for an end user. callwatch uses no other operation of the chat service, and no other operation that
 * creates anything. A key of either scope is enough.
 *
 * @param transport to the chat service's base address
 * @param hostTime the host's clock (UNIX seconds)
 * @throws {ServiceError}
 */
export async function createAuthToken(
  transport: Transport,
  { apiKey, uid, hostTime, signal }: { apiKey: string; uid: string; hostTime: number; signal: AbortSignal },
): Promise<string> {
  const path = `/users/${encodeURIComponent(uid)}/auth_tokens`
  const headers = { accept: 'application/json', 'content-type': 'application/json', apikey: apiKey }
  const response = await transport({ method: 'POST', path, headers, body: '{}', signal }).catch((error: unknown) => {
    throw networkError(error)
  })
  const body = readAnswer(response, { now: hostTime, apiKey })
  const data = isMap(body) && isMap(body['data']) ? body['data'] : body
  const token = isMap(data) ? data['authToken'] : undefined
  if (typeof token !== 'string' || token === '') {
    throw new ServiceError('invalid', 'the chat service answered without an `authToken`')
  }
  return token
}
