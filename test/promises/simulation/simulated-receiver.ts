import type { AlertMessage } from '../../../src/notifications/message.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import type { MessageReceiver } from '../../../src/notifications/receiver.ts'

/** A receiver that fails now and then, in every way a real one does, and keeps what it accepted. */
export type SimulatedReceiver = {
  receiver: MessageReceiver
  accepted: AlertMessage[]
  /** While it is down nothing is accepted. */
  isDown: boolean
}

/** @param draw from 0 to 1, for what fails */
export function simulatedReceiver(name: string, draw: () => number, trouble: number): SimulatedReceiver {
  const receiver: SimulatedReceiver = {
    accepted: [],
    isDown: false,
    receiver: {
      name,
      send: async (message) => {
        if (receiver.isDown) throw new DeliveryError('it could not be reached', { retryable: true })
        const drawn = draw() / trouble
        if (drawn < 0.5) throw new DeliveryError('it answered 500', { retryable: true })
        if (drawn < 1) throw new DeliveryError('it answered 429', { retryable: true, retryAfter: 7 })
        if (message.kind === 'alerts') receiver.accepted.push(message)
      },
    },
  }
  return receiver
}
