import { isDeepStrictEqual } from 'node:util'
import type { MessageReceiver, Receiver, ReceiverType, SendContext } from './receiver.ts'
import type { NotifyConfig } from './notify-section.ts'
import { receivers } from './receivers.ts'

export type ReceiverDeps = Omit<SendContext, 'name' | 'timezone'>

/** Receivers, each with the configuration that created it. */
export type CreatedReceivers = readonly { receiver: Receiver; from: unknown }[]

/**
 * Creates each configured receiver; of a mail one for each recipient.
 *
 * @param before the receivers of the earlier configuration. A receiver whose configuration is the same is kept, with its
 *   connections and what it knows of the other side.
 */
export async function configuredReceivers(
  notify: NotifyConfig,
  context: ReceiverDeps,
  before: CreatedReceivers = [],
): Promise<CreatedReceivers> {
  const created = notify.receivers.map(async (configured) => {
    const from = { configured, pageUrl: context.pageUrl, timezone: notify.timezone }
    const { name, config } = configured
    const type: ReceiverType = receivers[configured.type]
    const known = before.filter((one) => isDeepStrictEqual(one.from, from))
    if (known.length > 0) return known
    const made = [await type.create(config, { ...context, name, timezone: notify.timezone })].flat()
    return made.map((one) => ({ from, receiver: { name, ...one } }))
  })
  return (await Promise.all(created)).flat()
}

export function takesMessages(receiver: Receiver): receiver is MessageReceiver {
  return 'send' in receiver
}
