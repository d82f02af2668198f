import type { Transport, TransportRequest, TransportResponse } from '../../../src/service/transport.ts'

/** An answer of the service, by default 200 without headers. A body that is not a string is sent as JSON. */
export type Reply = { status?: number; headers?: TransportResponse['headers']; body?: unknown }

export function answer({ status = 200, headers = {}, body = {} }: Reply): TransportResponse {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
}

/** A transport that always sends the same answer, or rejects with an error; `requests` are those that it got. */
export function fakeTransport(reply: Reply | Error): { transport: Transport; requests: TransportRequest[] } {
  const requests: TransportRequest[] = []
  return {
    requests,
    transport: async (request) => {
      requests.push(request)
      if (reply instanceof Error) throw reply
      return answer(reply)
    },
  }
}

export const never = new AbortController().signal
