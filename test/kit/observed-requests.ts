import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A request to the service as its own server saw it. Times in seconds of this process's monotonic clock. */
export type ObservedRequest = {
  at: number
  /** When the whole answer had been handed to the network; undefined where it never was. */
  answered?: number
  /** Seconds that the answer asked to wait. */
  retryAfter?: number
}

export type RequestLog = {
  requests: ObservedRequest[]
  /** Called at each request as soon as it has come, before it is answered. */
  onRequest: (() => void) | undefined
  stop: () => void
}

type Started = { request: IncomingMessage; response: ServerResponse }

/**
 * Records every request to the service on `port` and what its answer says of Retry-After, which the simulator's own record
 * leaves out.
 *
 * @param dateOffset seconds by which the service's clock is ahead now
 */
export function observeRequests(port: number, dateOffset: () => number): RequestLog {
  const log: RequestLog = { requests: [], onRequest: undefined, stop: () => unsubscribe(CHANNEL, note) }
  function note(message: unknown): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as node:http documents it
    const { request, response } = message as Started
    if (request.socket.localPort !== port || !request.url?.startsWith('/v3/')) return
    const observed: ObservedRequest = { at: now() }
    log.requests.push(observed)
    const writeHead = response.writeHead.bind(response)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the simulator calls it in this form alone
    response.writeHead = ((status: number, headers: Record<string, string>) => {
      const retryAfter = headers['Retry-After']
      if (retryAfter !== undefined) observed.retryAfter = secondsOf(retryAfter, dateOffset())
      return writeHead(status, headers)
    }) as typeof response.writeHead
    response.once('finish', () => (observed.answered = now()))
    log.onRequest?.()
  }
  subscribe(CHANNEL, note)
  return log
}

const CHANNEL = 'http.server.request.start'

export function now(): number {
  return performance.now() / 1000
}

/** The most requests that came within any 60 seconds. */
export function mostInAMinute(requests: readonly ObservedRequest[]): number {
  let most = 0
  let first = 0
  for (const [last, { at }] of requests.entries()) {
    while (at - requests[first]!.at >= 60) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** Seconds in which what was under way may still arrive, also on a busy machine. A pause lasts a second at least. */
const UNDER_WAY = 0.5
/** A process that died within this time after an answer, or was held then, need not have read it (seconds). */
const UNREAD = 0.5

/** Requests before the end of the Retry-After of an earlier answer, whichever process had read that. */
export function beforeRetryAfter(requests: readonly ObservedRequest[], deaths: readonly number[]): number {
  const pauses = requests.flatMap(({ answered, retryAfter }) => {
    if (answered === undefined || retryAfter === undefined) return []
    const isUnread = deaths.some((death) => answered > death - UNREAD && answered < death + UNREAD)
    return isUnread ? [] : [{ from: answered + UNDER_WAY, to: answered + retryAfter - 0.02 }]
  })
  return requests.filter(({ at }) => pauses.some(({ from, to }) => at > from && at < to)).length
}

function secondsOf(header: string, dateOffset: number): number {
  return /^\d+$/.test(header) ? Number(header) : Date.parse(header) / 1000 - (Date.now() / 1000 + dateOffset)
}
