import { timer } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { findCalls, spare } from '../pipeline/find-calls.ts'
import type { Target } from '../pipeline/target.ts'
import type { RequestRecord } from '../polling/request-with-retries.ts'
import { deadlineOf } from '../rx/abortable.ts'
import { ServiceError } from '../service/service-error.ts'
import type { Transport } from '../service/transport.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import type { Search } from '../web/server.ts'
import type { DaemonEvent } from './daemon-event.ts'

type SearchOptions = {
  /** The targets that this daemon polls. */
  loaded: () => readonly Target[]
  clock: Clock
  random: () => number
  /** Removes secrets from texts of the service. */
  mask: (text: string) => string
  report: (event: DaemonEvent) => void
  /** Sends requests to the service; default: by HTTP. */
  transportTo?: (baseUrl: string, maxAnswerBytes: number) => Transport
}

/** After so long a search ends with what it has read. Proxies give up after a minute. */
const LONGEST_SECONDS = 50

/**
 * Searches a target that this daemon polls, with the requests that polls leave. Only the daemon that polls a target has a share of its
 * rate limit, so that no other one asks.
 */
export function searchIn(options: SearchOptions): Search {
  const { loaded, clock, random, mask, report, transportTo = undiciTransport } = options
  return async ({ target: name, wanted, since, aborted }) => {
    const target = loaded().find((one) => one.name === name)
    if (target === undefined) return undefined
    const { settings, rateLimiter } = target
    const { poll } = settings
    const requests: RequestRecord[] = []
    const until = deadlineOf(timer(LONGEST_SECONDS * 1000, clock.scheduler), aborted)
    try {
      return await findCalls(wanted, {
        send: transportTo(settings.target.baseUrl, poll.maxAnswerBytes),
        client: { ...settings.target, ...poll, wall: clock.wall },
        asking: {
          ...poll,
          clock,
          random,
          rateLimiter: spare(rateLimiter, clock),
          onRequest: (record) => requests.push(record),
        },
        since,
        until: until.signal,
      })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { problem: mask(error.message) }
    } finally {
      until.dispose()
      report({ kind: 'searched', target: name, requests })
    }
  }
}
