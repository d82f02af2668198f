import type { Transport, TransportRequest, TransportResponse } from '../../src/service/transport.ts'

/** An answer of the service: what is left out is a plain 200 without headers. A body that is no text is sent as JSON. */
export type Answer = { status?: number; headers?: TransportResponse['headers']; body?: unknown }

export function answer({ status = 200, headers = {}, body = {} }: Answer): TransportResponse {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
}

/** A transport that always answers the same, or rejects with an error; `requests` are those that it was given. */
export function answering(reply: Answer | Error): { transport: Transport; requests: TransportRequest[] } {
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
