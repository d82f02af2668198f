import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import type { Receiver } from '../notifications/receiver.ts'
import { alertmanagersIn, configuredReceivers, messageReceiversIn } from '../notifications/configured-receivers.ts'

type ReceiversConfig = Pick<Config, 'notify' | 'http'>

/** The receivers of the active configuration. */
export type ActiveReceivers = {
  receivers: () => readonly Receiver[]
  /** The names of the receivers. */
  names: () => readonly string[]
  /** The same, and Alertmanagers, which take no messages. */
  shown: () => readonly string[]
  /** Creates those of another configuration, which are active once that is called. */
  prepare: (config: ReceiversConfig) => Promise<{ names: readonly string[]; activate: () => void }>
}

export async function activeReceivers(first: ReceiversConfig, clock: Clock, logger: Logger): Promise<ActiveReceivers> {
  const create = ({ notify, http }: ReceiversConfig) =>
    configuredReceivers(notify, {
      clock,
      log: ({ fields, text }) => logger.warn(fields, text),
      pageUrl: http.publicUrl,
    })
  const partOf = ({ notify, http }: ReceiversConfig) => [messageReceiversIn(notify), http.publicUrl]
  let active = { config: first, receivers: await create(first) }
  const names = () => active.receivers.map(({ name }) => name)
  return {
    receivers: () => active.receivers,
    names,
    shown: () => [...names(), ...alertmanagersIn(active.config.notify).map(({ name }) => name)],
    prepare: async (config) => {
      // What has not changed keeps its connections.
      const isSame = isDeepStrictEqual(partOf(active.config), partOf(config))
      const next = { config, receivers: isSame ? active.receivers : await create(config) }
      return { names: next.receivers.map(({ name }) => name), activate: () => void (active = next) }
    },
  }
}
