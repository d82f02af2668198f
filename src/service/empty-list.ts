import type { CallPage } from './calls-client.ts'
import { ServiceError } from './service-error.ts'

/** No call has this id. */
const UNKNOWN_ID = 'callwatch-knows-no-such-call'

type Requests = {
  list: (page: number) => Promise<CallPage>
  get: (sessionId: string) => Promise<unknown>
  /** The host's clock (UNIX seconds). */
  wall: () => number
}

/**
 * Requests a page of List Calls. Some services answer 404 where there is no call, and so does an address that does not exist: then
 * Get Call of an unknown id decides, which the service answers with its own error.
 *
 * @throws {ServiceError}
 */
export async function listPage(page: number, { list, get, wall }: Requests): Promise<CallPage> {
  try {
    return await list(page)
  } catch (error) {
    if (page !== 1 || !(error instanceof ServiceError) || error.status !== 404) throw error
    const answer = await get(UNKNOWN_ID).catch((reason: unknown) => reason)
    if (!(answer instanceof ServiceError) || answer.kind !== 'not_found') throw error
    const hostTime = wall()
    const { serviceTime = hostTime, isUndated } = answer
    const none = { calls: [], invalid: {}, items: 0, keys: [], total: undefined, totalPages: undefined }
    return { page, ...none, serviceTime, isUndated, hostTime, remaining: undefined }
  }
}
