import { header, type Reply, type ServiceRequest } from './http.ts'

/** One answer of the service as it was given. Never a key. */
export type RecordedResponse = {
  /** Seconds since 1970, three decimals: the moment whose state the body shows. */
  at: number
  method: string
  /** With the query, as it was asked for. */
  path: string
  onBehalfOf?: string
  /** 0 where the connection was reset or nothing was sent. */
  status: number
  /** The Date header; empty where nothing was sent. */
  date: string
  /** As it was to be sent. */
  body: string
  /** false where the client cannot have had all of it: reset, hung, cut off, or given up by the client. */
  delivered: boolean
}

/** What was answered, oldest first. Above `most` answers, or `mostCharacters` of their bodies, the oldest are dropped. */
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
