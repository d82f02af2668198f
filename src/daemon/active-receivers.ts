import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { configuredReceivers, takesMessages, type CreatedReceivers } from '../notifications/configured-receivers.ts'
import type { Receiver } from '../notifications/receiver.ts'
import { VERSION } from './version.ts'

type ReceiversConfig = Pick<Config, 'notify' | 'http'>

/** The receivers of the active configuration. */
export type ActiveReceivers = {
  all: () => readonly Receiver[]
  /** The names of those that take messages. */
  names: () => readonly string[]
  /** Creates those of another configuration, which are active once that is called. */
  prepare: (config: ReceiversConfig) => Promise<{ names: readonly string[]; activate: () => void }>
}

export async function activeReceivers(first: ReceiversConfig, clock: Clock, logger: Logger): Promise<ActiveReceivers> {
  const create = ({ notify, http }: ReceiversConfig, before?: CreatedReceivers) =>
    configuredReceivers(
      notify,
      {
        clock,
        log: ({ fields, text }) => logger.warn(fields, text),
        pageUrl: http.publicUrl,
        version: VERSION,
      },
      before,
    )
  const namesOf = (receivers: CreatedReceivers) =>
    receivers.flatMap(({ receiver }) => (takesMessages(receiver) ? [receiver.name] : []))
  let active = await create(first)
  return {
    all: () => active.map(({ receiver }) => receiver),
    names: () => namesOf(active),
    prepare: async (config) => {
      const next = await create(config, active)
      return { names: namesOf(next), activate: () => void (active = next) }
    },
  }
}
