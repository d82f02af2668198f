import type { Clock } from '../../clock/clock.ts'
import type { Message } from '../message.ts'
import { DeliveryError } from '../../network/delivery-error.ts'
import type { Receiver } from '../receiver.ts'
import type { Batch, Delivery, Stage } from './batch.ts'

const FIRST_DELAY_SECONDS = 1
const MAX_DELAY_SECONDS = 300
/** A receiver that asks for a longer wait than this (seconds) is asked again all the same: alerts are at stake. */
const MAX_RETRY_AFTER_SECONDS = 3600

/** When a receiver that fails may be sent to again: after longer and longer waits, or when it asks for it. */
export type Backoff = {
  isPaused: () => boolean
  /** @param retryAfter seconds that the receiver asked to wait */
  failed: (retryAfter?: number) => void
  answered: () => void
}

export function backoffOn(clock: Clock): Backoff {
  let failures = 0
  let pausedUntil = 0
  return {
    isPaused: () => clock.monotonic() < pausedUntil,
    failed: (retryAfter) => {
      failures += 1
      const delay = retryAfter ?? Math.min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (failures - 1))
      pausedUntil = clock.monotonic() + Math.min(delay, MAX_RETRY_AFTER_SECONDS)
    },
    answered: () => {
      failures = 0
    },
  }
}

/** One attempt to deliver a message. After a bug it is retried as well: no message may be lost for that. */
export function send(receiver: Receiver, backoff: Backoff): Stage {
  return async (batch) => {
    if (batch.kind !== 'message') return batch
    return { kind: 'attempted', entries: batch.entries, ...(await attempt(batch.message)) }
  }

  async function attempt(message: Message): Promise<Omit<Extract<Batch, { kind: 'attempted' }>, 'kind' | 'entries'>> {
    const delivery = (outcome: Delivery['outcome'], why = {}) => ({ receiver: receiver.name, message, outcome, ...why })
    try {
      await receiver.send(message)
      backoff.answered()
      return { delivery: delivery('sent'), mayHaveArrived: true }
    } catch (error) {
      if (!(error instanceof DeliveryError)) {
        backoff.failed()
        return { delivery: delivery('retried', { problem: 'internal error', error }), mayHaveArrived: true }
      }
      const { message: problem, retryable, retryAfter, mayHaveArrived } = error
      if (retryable) backoff.failed(retryAfter)
      else backoff.answered()
      return { delivery: delivery(retryable ? 'retried' : 'dropped', { problem }), mayHaveArrived }
    }
  }
}
