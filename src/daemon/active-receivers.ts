import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { configuredReceivers, takesMessages, type CreatedReceivers } from '../notifications/configured-receivers.ts'
import { keyOf, type Receiver } from '../notifications/receiver.ts'

type ReceiversConfig = Pick<Config, 'notify' | 'http'>

export type ActiveReceivers = Awaited<ReturnType<typeof activeReceivers>>

/** The receivers of the active configuration. */
export async function activeReceivers(first: ReceiversConfig, clock: Clock) {
  const create = ({ notify, http }: ReceiversConfig, before?: CreatedReceivers) =>
    configuredReceivers(notify, { clock, pageUrl: http.publicUrl }, before)
  const all = (receivers: CreatedReceivers): readonly Receiver[] => receivers.map(({ receiver }) => receiver)
  const keysOf = (receivers: CreatedReceivers): readonly string[] => all(receivers).filter(takesMessages).map(keyOf)
  let active = await create(first)
  return {
    all: () => all(active),
    /** The names of all receivers, each once. */
    names: (): readonly string[] => [...new Set(all(active).map(({ name }) => name))],
    /** The keys of the receivers that accept messages. */
    keys: () => keysOf(active),
    /** Creates the receivers of another configuration. They become active when the returned function is called. */
    prepare: async (config: ReceiversConfig) => {
      const next = await create(config, active)
      return { keys: keysOf(next), activate: () => void (active = next) }
    },
  }
}
