import type { z } from 'zod'
import type { Clock } from '../clock/clock.ts'
import type { Refresh, Send } from './receiver.ts'

/** What can stand in the section `notify`, to be notified. Its folder has all of it; receivers.ts has its key. */
export type ReceiverType<Section extends z.ZodType = z.ZodType> = {
  /** What the key is for, as its description. */
  about: string
  /** The key's value: with its defaults, secrets and environment variables. */
  section: Section
  /** There is one at most: `notify.receivers` cannot have it. */
  isSingle?: boolean
} & (
  | {
      /** Loads what sends to it: every command reads the configuration, and few send anything. */
      create(config: z.output<Section>, context: SendContext): Promise<Send>
      /** Whether it can be sent a digest; default: yes. */
      takesDigest?(config: z.output<Section>): boolean
    }
  | {
      createState(config: z.output<Section>, context: SendContext): Promise<Refresh>
      /** Why a route cannot name it, in a sentence. */
      notRouted: string
    }
)

/** What a sender knows beside its section. */
export type SendContext = {
  clock: Clock
  /** Of the receiver. */
  name: string
  /** Where the alerts are shown, an absolute address. */
  pageUrl?: string | undefined
}
