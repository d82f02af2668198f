import { isMap, parseTree } from '../schema/path.ts'
import { quoteLongIds } from './read-answer.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** The path and query of a request, and its answer. The body is parsed if it is a map or a list of JSON. */
export type Exchange = { path: string; body: unknown } & Omit<TransportResponse, 'body'>

/** A transport that also keeps what it receives. It keeps no headers of requests, which have the key. */
export function collecting(transport: Transport, exchanges: Exchange[]): Transport {
  return async (request) => {
    const response = await transport(request)
    exchanges.push({ ...response, path: request.path, body: parseTree(quoteLongIds(response.body)) ?? response.body })
    return response
  }
}

/** Whether a body has an envelope. Otherwise it is a call, a list of calls, or not the service's. */
export function isEnvelope(body: unknown): body is Record<string, unknown> {
  return isMap(body) && !('sessionId' in body)
}
