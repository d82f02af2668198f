import type { z } from 'zod'
import type { Clock } from '../clock/clock.ts'
import type { Send } from './receiver.ts'

/** What can stand in the section `notify`, to be notified. Its folder has all of it; receivers.ts has its key. */
export type ReceiverType<Section extends z.ZodType = z.ZodType> = {
  /** What the key is for, as its description. */
  about: string
  /** The key's value: with its defaults, secrets and environment variables. */
  section: Section
}

/** One that takes messages from the outbox, and that routes can name. */
export type MessageReceiverType<Section extends z.ZodType = z.ZodType> = ReceiverType<Section> & {
  /** Loads what sends to it: every command reads the configuration, and few send anything. */
  create(config: z.output<Section>, context: SendContext): Promise<Send>
}

/** What a sender knows beside its section. */
export type SendContext = {
  clock: Clock
  /** Of the receiver. */
  name: string
  /** Where the alerts are shown, an absolute address. */
  pageUrl?: string | undefined
}
