import type { LiveAlert } from '../alerts/alert.ts'
import type { Message } from './message.ts'

/** Delivers one message. Rejects with a {@link DeliveryError}. */
export type Send = (message: Message) => Promise<void>

/** What there is to tell a receiver that takes the state as it is, and no messages. */
export type State = {
  /** The alerts of all targets. */
  alerts: () => readonly LiveAlert[]
  /** Whether rules are evaluated and the store is written, for all targets. */
  isWorking: () => boolean
  /** Seconds between two polls. */
  interval: () => number
}

/** Looks, each second, at what there is to tell; returns what sends it, or undefined while nothing is due. */
export type Refresh = (state: State) => (() => Promise<void>) | undefined

/** A configured receiver of messages, which wait for it in the outbox; or the log. */
export type MessageReceiver = {
  /** As in the `receiver` label and the outbox. */
  name: string
  send: Send
}

/** A configured receiver of the state. Nothing that it missed is sent later. */
export type StateReceiver = { name: string; refresh: Refresh }

export type Receiver = MessageReceiver | StateReceiver
