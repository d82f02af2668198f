import type { Message } from './message.ts'

/** Delivers one message. Rejects with a {@link DeliveryError}. */
export type Send = (message: Message) => Promise<void>

/** A configured receiver of messages, or the log. */
export type Receiver = {
  /** As in the `receiver` label and the outbox. */
  name: string
  send: Send
}
