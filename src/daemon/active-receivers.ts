import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import type { Receiver } from '../notifications/receiver.ts'
import { alertmanagersIn, configuredReceivers, messageReceiversIn } from '../notifications/configured-receivers.ts'

/** The receivers of the active configuration. */
export type ActiveReceivers = {
  receivers: () => readonly Receiver[]
  /** The names of the receivers. */
  names: () => readonly string[]
  /** The same, and Alertmanagers, which take no messages. */
  shown: () => readonly string[]
  /** Creates those of another configuration, which are active once that is called. */
  prepare: (config: Pick<Config, 'notify'>) => Promise<{ names: readonly string[]; activate: () => void }>
}

export async function activeReceivers(
  first: Pick<Config, 'notify'>,
  clock: Clock,
  logger: Logger,
): Promise<ActiveReceivers> {
  const create = (notify: Config['notify']) =>
    configuredReceivers(notify, { clock, log: ({ fields, text }) => logger.warn(fields, text) })
  let active = { notify: first.notify, receivers: await create(first.notify) }
  const names = () => active.receivers.map(({ name }) => name)
  return {
    receivers: () => active.receivers,
    names,
    shown: () => [...names(), ...alertmanagersIn(active.notify).map(({ name }) => name)],
    prepare: async ({ notify }) => {
      // What has not changed keeps its connections.
      const isSame = isDeepStrictEqual(messageReceiversIn(active.notify), messageReceiversIn(notify))
      const next = { notify, receivers: isSame ? active.receivers : await create(notify) }
      return { names: next.receivers.map(({ name }) => name), activate: () => void (active = next) }
    },
  }
}
