import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { configuredReceivers, receiversIn, takesMessages } from '../notifications/configured-receivers.ts'
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
  const create = ({ notify, http }: ReceiversConfig) =>
    configuredReceivers(notify, {
      clock,
      log: ({ fields, text }) => logger.warn(fields, text),
      pageUrl: http.publicUrl,
      version: VERSION,
    })
  const partOf = ({ notify, http }: ReceiversConfig) => [receiversIn(notify), http.publicUrl]
  const namesOf = (receivers: readonly Receiver[]) => receivers.filter(takesMessages).map(({ name }) => name)
  let active = { config: first, receivers: await create(first) }
  return {
    all: () => active.receivers,
    names: () => namesOf(active.receivers),
    prepare: async (config) => {
      // What has not changed keeps its connections, and what it knows of the other side.
      const isSame = isDeepStrictEqual(partOf(active.config), partOf(config))
      const next = { config, receivers: isSame ? active.receivers : await create(config) }
      return { names: namesOf(next.receivers), activate: () => void (active = next) }
    },
  }
}
