import type { AlertMessage } from '../../src/notifications/message.ts'
import { DeliveryError } from '../../src/network/delivery-error.ts'
import type { Receiver } from '../../src/notifications/receiver.ts'

/** A channel that fails now and then, in every way a real one does, and keeps what it accepted. */
export type SimulatedSlack = {
  notifier: Receiver
  accepted: AlertMessage[]
  /** While it is down nothing is accepted. */
  isDown: boolean
}

/** @param draw from 0 to 1, for what fails */
export function simulatedSlack(draw: () => number, trouble: number): SimulatedSlack {
  const slack: SimulatedSlack = {
    accepted: [],
    isDown: false,
    notifier: {
      name: 'slack',
      send: async (message) => {
        if (slack.isDown) throw new DeliveryError('Slack could not be reached', { retryable: true })
        const drawn = draw() / trouble
        if (drawn < 0.5) throw new DeliveryError('Slack answered 500', { retryable: true })
        if (drawn < 1) throw new DeliveryError('Slack answered 429', { retryable: true, retryAfter: 7 })
        if (message.kind === 'alerts') slack.accepted.push(message)
      },
    },
  }
  return slack
}
