import type { FastifyReply } from 'fastify'
import { systemClock, type Clock } from '../clock/clock.ts'
import { sendProblem } from './problem.ts'

/** How long a response waits for its turn (seconds), and how many wait at most. */
const WAIT_SECONDS = 10
const MOST_WAITING = 20
const RETRY_AFTER_SECONDS = 5
/** A client that reads a response for longer is disconnected. */
const READ_TIMEOUT_SECONDS = 120

/** Limits how many large responses are made, or wait for their clients, at the same time. Further ones wait for their turn. */
export function concurrencyLimit(limit: number, { scheduler }: Pick<Clock, 'scheduler'> = systemClock) {
  let inFlight = 0
  /** Each is called with true when it is its turn. */
  const waiting = new Set<(isTurn: boolean) => void>()

  /** Resolves to whether the response may be made. Then call `end` once it is over. */
  async function turn(): Promise<boolean> {
    if (inFlight < limit) {
      inFlight += 1
      return true
    }
    if (waiting.size >= MOST_WAITING) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    waiting.add(resolve)
    const timeout = scheduler.schedule(() => {
      waiting.delete(resolve)
      resolve(false)
    }, WAIT_SECONDS * 1000)
    return promise.finally(() => timeout.unsubscribe())
  }

  function end(): void {
    const [next] = waiting
    if (next === undefined) inFlight -= 1
    else {
      waiting.delete(next)
      next(true)
    }
  }

  /**
   * Answers with 503 and Retry-After, and resolves to undefined, if too many responses are being made for long. Otherwise resolves to
   * a function to call whenever the client has read a part of the response; it restarts the timeout.
   */
  return async (reply: FastifyReply): Promise<(() => void) | undefined> => {
    if (!(await turn())) {
      const detail = `${limit} responses of this size are in progress; try again later, or request less`
      sendProblem(reply.header('retry-after', RETRY_AFTER_SECONDS), 503, detail)
      return undefined
    }
    // A client that has disconnected already emits no further `close`.
    if (reply.raw.destroyed) {
      end()
      return undefined
    }
    const begin = () => scheduler.schedule(() => reply.raw.destroy(), READ_TIMEOUT_SECONDS * 1000)
    let timeout = begin()
    reply.raw.once('close', () => {
      end()
      timeout.unsubscribe()
    })
    return () => {
      timeout.unsubscribe()
      // A connection whose client has disconnected is closed already.
      if (!reply.raw.destroyed) timeout = begin()
    }
  }
}
