import type { FastifyReply } from 'fastify'
import { systemClock, type Clock } from '../clock/clock.ts'
import { sendProblem } from './problem.ts'

const RETRY_AFTER_SECONDS = 5
/** A client that reads a response for longer is disconnected. */
const READ_TIMEOUT_SECONDS = 120

/** Limits how many large responses are made, or wait for their clients, at the same time. */
export type ConcurrencyLimit = {
  /** Returns whether this response may be made; if not, answers with 503 and Retry-After. */
  admits: (reply: FastifyReply) => boolean
}

export function concurrencyLimit(
  limit: number,
  { scheduler }: Pick<Clock, 'scheduler'> = systemClock,
): ConcurrencyLimit {
  let inFlight = 0
  return {
    admits: (reply) => {
      // A client that has disconnected already emits no further `close`.
      if (inFlight >= limit || reply.raw.destroyed) {
        const detail = `${limit} responses of this size are in progress; try again later, or request fewer calls by limit`
        sendProblem(reply.header('retry-after', RETRY_AFTER_SECONDS), 503, detail)
        return false
      }
      inFlight += 1
      const timeout = scheduler.schedule(() => reply.raw.destroy(), READ_TIMEOUT_SECONDS * 1000)
      reply.raw.once('close', () => {
        inFlight -= 1
        timeout.unsubscribe()
      })
      return true
    },
  }
}
