import type { FastifyReply } from 'fastify'
import { systemClock, type Clock } from '../clock/clock.ts'

/** When an answer that is one too many may be asked for again (seconds). */
const RETRY_AFTER = 5
/** A client that has not read an answer by then (seconds) does not get the rest of it. */
const LONGEST_READ = 120

/** Bounds how many answers that take much time and memory are made, or wait to be read, at a time. */
export function atMost(
  limit: number,
  { scheduler }: Pick<Clock, 'scheduler'> = systemClock,
): {
  /** Whether this answer may be made; where it may not, that is what is answered: 503, with Retry-After. */
  admits: (reply: FastifyReply) => boolean
} {
  let inFlight = 0
  return {
    admits: (reply) => {
      // Of a client that has left meanwhile no `close` would come any more.
      if (inFlight >= limit || reply.raw.destroyed) {
        const error = `${limit} answers as long as this one are under way; try again later, or ask for fewer by limit`
        reply.code(503).header('retry-after', RETRY_AFTER).send({ error })
        return false
      }
      inFlight += 1
      const patience = scheduler.schedule(() => reply.raw.destroy(), LONGEST_READ * 1000)
      reply.raw.once('close', () => {
        inFlight -= 1
        patience.unsubscribe()
      })
      return true
    },
  }
}
