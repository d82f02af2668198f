import { sleep, type Clock } from '../../../src/clock/clock.ts'
import type { PostEvent } from '../../../src/events/webhooks/post-event.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import type { KnownEvent } from '../../kit/events/event-problems.ts'

/** A receiver of events that fails in every way, and keeps all that it processed, repetitions as well. */
export type SimulatedWebhook = {
  /** For one life of the process, whose clock it is. */
  post: (clock: Clock) => PostEvent
  processed: KnownEvent[]
  draw: () => number
  /** While it is down nothing is accepted. */
  isDown: boolean
}

const TIMEOUT = 15

/** @param draw from 0 to 1, for what fails */
export function simulatedWebhook(draw: () => number, trouble: number): SimulatedWebhook {
  const webhook: SimulatedWebhook = {
    processed: [],
    draw,
    isDown: false,
    post: (clock) => async (_id, body) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own events
      const process = () => void webhook.processed.push(JSON.parse(body) as KnownEvent)
      const fail = (problem: string, status?: number, more = {}): never => {
        throw new DeliveryError(problem, { retryable: status === undefined || status >= 429, ...(status && { status }), ...more }) // oxfmt-ignore
      }
      if (webhook.isDown) return fail('it could not be reached')
      const place = Math.floor((draw() / trouble) * 8)
      switch (place) {
        case 0:
          return fail('it answered 500', 500)
        case 1:
          return fail('it answered 429', 429, { retryAfter: 3 })
        case 2:
          await sleep(clock, TIMEOUT)
          return fail('it did not answer')
        case 3:
          process()
          await sleep(clock, TIMEOUT)
          return fail('it did not answer')
        case 4:
          process()
          return fail('the connection was reset')
        case 5:
          return fail('it refused the event with 404', 404)
        case 6:
          // Rarely, because nothing is delivered then until somebody resumes it.
          return draw() < 0.05 ? fail('it answered 410', 410) : fail('it answered 408', 408)
        case 7:
          await sleep(clock, draw() * TIMEOUT)
          return process()
        default:
          return process()
      }
    },
  }
  return webhook
}
