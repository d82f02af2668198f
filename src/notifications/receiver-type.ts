import type { z } from 'zod'
import type { Clock } from '../clock/clock.ts'
import type { Refresh, Send } from './receiver.ts'

/** A type of receiver, as the section `notify` can configure it. Its folder contains all of it; receivers.ts has its key. */
export type ReceiverType<Section extends z.ZodType = z.ZodType> = {
  /** The description of the key. */
  about: string
  /** The schema of the key's value, with its defaults, secrets and environment variables. */
  section: Section
  /** At most one may be configured, so `notify.receivers` cannot contain it. */
  isSingle?: boolean
} & (
  | {
      /** Loads the code that sends. Every command reads the configuration, but few commands send anything. */
      create(config: z.output<Section>, context: SendContext): Promise<Send>
      /** Whether it accepts a digest; default: yes. */
      takesDigest?(config: z.output<Section>): boolean
    }
  | {
      createState(config: z.output<Section>, context: SendContext): Promise<Refresh>
      /** Why a route cannot name it, in a sentence. */
      notRouted: string
    }
)

/** What a sender gets besides its section. */
export type SendContext = {
  clock: Clock
  /** The receiver's name. */
  name: string
  /** Where the page shows the alerts, an absolute address. */
  pageUrl?: string | undefined
}
