import { header, type Reply, type ServiceRequest } from './http.ts'

/** An answer that the service gave. Never contains a key. */
export type RecordedResponse = {
  /** The time whose state the body shows (UNIX seconds, three decimals). */
  at: number
  method: string
  /** The path as it was requested, with the query. */
  path: string
  onBehalfOf?: string
  /** 0 if the connection was reset or nothing was sent. */
  status: number
  /** The Date header; empty if nothing was sent. */
  date: string
  /** The body that was to be sent. */
  body: string
  /** False if the client cannot have received all of it: the connection was reset, hung or cut off, or the client gave up. */
  delivered: boolean
}

/**
 * The recorded answers, oldest first. If there are more than `most`, or their bodies have more than `mostCharacters`, the
 * oldest are dropped.
 */
export type Recorder = { responses: RecordedResponse[]; most: number; mostCharacters: number; characters: number }

export function record(recorder: Recorder, at: number, request: ServiceRequest, reply: Reply): RecordedResponse {
  const onBehalfOf = header(request, 'onbehalfof')
  const response: RecordedResponse = {
    at,
    method: request.method,
    path: request.query === '' ? request.path : `${request.path}?${request.query}`,
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
    status: reply.status,
    date: reply.headers['date'] ?? '',
    body: reply.body,
    delivered: reply.delivery === 'whole',
  }
  const { responses, most, mostCharacters } = recorder
  responses.push(response)
  recorder.characters += response.body.length
  while (responses.length > most || (recorder.characters > mostCharacters && responses.length > 1)) {
    recorder.characters -= responses.shift()!.body.length
  }
  return response
}
