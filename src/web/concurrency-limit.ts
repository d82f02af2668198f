import type { FastifyReply } from 'fastify'
import { systemClock, type Clock } from '../clock/clock.ts'
import { sendProblem } from './problem.ts'

const RETRY_AFTER_SECONDS = 5
/** A client that reads a response for longer is disconnected. */
const READ_TIMEOUT_SECONDS = 120

/** Limits how many large responses are made, or wait for their clients, at the same time. */
export function concurrencyLimit(limit: number, { scheduler }: Pick<Clock, 'scheduler'> = systemClock) {
  let inFlight = 0
  return {
    /**
     * Answers with 503 and Retry-After, and returns undefined, if too many responses are being made. Otherwise returns a function to
     * call whenever the client has read a part of the response; it restarts the timeout.
     */
    admits: (reply: FastifyReply): (() => void) | undefined => {
      // A client that has disconnected already emits no further `close`.
      if (inFlight >= limit || reply.raw.destroyed) {
        const detail = `${limit} responses of this size are in progress; try again later, or request less`
        sendProblem(reply.header('retry-after', RETRY_AFTER_SECONDS), 503, detail)
        return undefined
      }
      inFlight += 1
      const begin = () => scheduler.schedule(() => reply.raw.destroy(), READ_TIMEOUT_SECONDS * 1000)
      let timeout = begin()
      reply.raw.once('close', () => {
        inFlight -= 1
        timeout.unsubscribe()
      })
      return () => {
        timeout.unsubscribe()
        // A connection whose client has disconnected is closed already.
        if (!reply.raw.destroyed) timeout = begin()
      }
    },
  }
}
