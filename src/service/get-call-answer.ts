import { callPath, isRequestable, requestHeaders } from './calls-client.ts'
import { networkError, ServiceError } from './service-error.ts'
import { readAnswer } from './read-answer.ts'
import type { Transport } from './transport.ts'

/**
 * The body of a Get Call answer, unchanged.
 *
 * @param transport to the calls service's base address
 * @param hostTime the host's clock (UNIX seconds)
 * @throws {ServiceError} also if the answer is an error
 */
export async function getCallAnswer(
  transport: Transport,
  request: {
    apiKey: string
    onBehalfOf?: string | undefined
    sessionId: string
    hostTime: number
    signal: AbortSignal
  },
): Promise<string> {
  const { apiKey, sessionId, hostTime, signal } = request
  if (!isRequestable(sessionId)) throw new ServiceError('refused', 'a call with this id cannot be requested')
  const sent = { method: 'GET', path: callPath(sessionId) } as const
  const response = await transport({ ...sent, headers: requestHeaders(request), signal }).catch((error: unknown) => {
    throw networkError(error)
  })
  readAnswer(response, { now: hostTime, apiKey })
  return response.body
}
