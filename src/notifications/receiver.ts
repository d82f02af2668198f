import type { LiveAlert } from '../alerts/alert.ts'
import type { Message } from './message.ts'

/** Delivers one message. Rejects with a {@link DeliveryError}. */
export type Send = (message: Message) => Promise<void>

/** The state, for a receiver that takes the state instead of messages. */
export type State = {
  /** The alerts of all targets. */
  alerts: () => readonly LiveAlert[]
  /** Whether, for all targets, the rules are evaluated and the store can be written. */
  isWorking: () => boolean
  /** Seconds between two polls. */
  interval: () => number
}

/** Called each second. Returns a function that sends, or undefined if nothing is due. */
export type Refresh = (state: State) => (() => Promise<void>) | undefined

/** A configured receiver of messages, which wait in the outbox; or the log. */
export type MessageReceiver = {
  /** As in the `receiver` label and the outbox. */
  name: string
  send: Send
}

/** A configured receiver of the state. What it misses is not sent later. */
export type StateReceiver = { name: string; refresh: Refresh }

export type Receiver = MessageReceiver | StateReceiver
