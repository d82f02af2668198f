import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import type { Notifier } from '../notifications/notifier.ts'
import { messageReceiversIn, notifiersOf } from '../notifications/notifiers.ts'

/** The recipients of notifications, by the active configuration. */
export type Recipients = {
  notifiers: () => readonly Notifier[]
  /** The names of the notifiers. */
  names: () => readonly string[]
  /** The same, and Alertmanager, which takes no messages. */
  shown: () => readonly string[]
  /** Creates those of another configuration, which are active once the result is called. */
  prepare: (config: Pick<Config, 'notify'>) => Promise<() => void>
}

export async function recipientsOf(first: Pick<Config, 'notify'>, clock: Clock, logger: Logger): Promise<Recipients> {
  const create = (notify: Config['notify']) =>
    notifiersOf(notify, { clock, log: ({ fields, text }) => logger.warn(fields, text) })
  let active = { notify: first.notify, notifiers: await create(first.notify) }
  const names = () => active.notifiers.map(({ name }) => name)
  return {
    notifiers: () => active.notifiers,
    names,
    shown: () => [...names(), ...(active.notify.alertmanager === undefined ? [] : ['alertmanager'])],
    prepare: async ({ notify }) => {
      // What has not changed keeps its connections.
      const isSame = isDeepStrictEqual(messageReceiversIn(active.notify), messageReceiversIn(notify))
      const next = { notify, notifiers: isSame ? active.notifiers : await create(notify) }
      return () => void (active = next)
    },
  }
}
