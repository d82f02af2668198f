import type { z } from 'zod'
import type { LiveAlert } from '../alerts/alert.ts'
import type { Clock } from '../clock/clock.ts'
import type { AlertMessage, Message } from './message.ts'

/**
 * Delivers one message. Rejects with a {@link DeliveryError}. Resolves to what identifies it at the receiver, if it can be edited there.
 */
export type Send<Posted = string | undefined | void> = (message: Message) => Promise<Posted>

/** The state, for a receiver that takes the state instead of messages. */
export type State = {
  /** The alerts of all targets. */
  alerts: () => readonly LiveAlert[]
  /** Whether, for all targets, the rules are evaluated and the store can be written. */
  isWorking: () => boolean
  /** Seconds between two polls. */
  interval: () => number
  /** Changes if another daemon may have sent the state since; default: there is no other. */
  membership?: () => string | undefined
}

/** Called each second. Returns a function that sends, or undefined if nothing is due. */
export type Refresh = (state: State) => (() => Promise<void>) | undefined

/** A configured receiver of messages. */
export type MessageReceiver = {
  /** As it is configured, and in the `receiver` label. */
  name: string
  /** By which the store knows of what it is notified; default: its name. Each recipient of a mail is a receiver with a key of its own. */
  key?: string
  send: Send
  /** Edits the message `thread` of an incident, or posts it again. Resolves as `send`; to undefined if it cannot be shown. */
  edit?: (message: AlertMessage) => Promise<string | undefined>
  /** The receivers of one account share its limit of requests; default: it has one of its own. */
  account?: string
}

/** A configured receiver of the state. What it misses is not sent later. */
export type StateReceiver = {
  name: string
  refresh: Refresh
  /** It says that callwatch works, and nothing of alerts; default: no. */
  isHeartbeat?: boolean
}

export type Receiver = MessageReceiver | StateReceiver

/** A type of receiver, as the section `notify` can configure it. Its folder contains all of it; receivers.ts has its key. */
export type ReceiverType<Section extends z.ZodType = z.ZodType> = {
  /** The description of the key. */
  about: string
  /** The schema of the key's value, with its defaults, secrets and environment variables. */
  section: Section
  /** Why a valid section cannot work, in a sentence without secrets; undefined if nothing is known against it. */
  warning?(config: z.output<Section>): string | undefined
  /** Why a route cannot name it, in a sentence; only for a receiver of the state. */
  notRouted?: string
  /** Loads the code that sends. Every command reads the configuration, but few commands send anything. */
  create(config: z.output<Section>, context: SendContext): Promise<Created | Created[]>
}

type Created = Omit<MessageReceiver, 'name'> | Omit<StateReceiver, 'name'>

export const keyOf = ({ name, key = name }: { name: string; key?: string }) => key

/** What a sender gets besides its section. */
export type SendContext = {
  clock: Clock
  /** The receiver's name. */
  name: string
  /** Where the page shows the alerts, an absolute address. */
  pageUrl?: string | undefined
  /** Of whose times there are some beside those in UTC (IANA name). */
  timezone?: string | undefined
}
