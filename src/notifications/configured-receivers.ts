import type { Clock } from '../clock/clock.ts'
import { logReceiver, type LogLine } from './log-receiver.ts'
import type { Receiver } from './receiver.ts'
import type { NotifyConfig } from './notify-section.ts'
import type { MessageReceiverType } from './receiver-type.ts'
import { messageReceiverNames, receivers, type MessageReceiverName } from './receivers.ts'

export type ReceiverDeps = { clock: Clock; log: (line: LogLine) => void }

/** Each configured receiver of messages; the log, where there is none (Alertmanager takes no messages). */
export async function configuredReceivers(
  notify: NotifyConfig,
  { clock, log }: ReceiverDeps,
): Promise<readonly Receiver[]> {
  const configured = Object.entries(messageReceiversIn(notify)).map(async ([name, config]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript cannot tell which config belongs to which type
    const receiver: MessageReceiverType = receivers[name as MessageReceiverName]
    return { name, send: await receiver.create(config, { clock }) }
  })
  return configured.length > 0 ? Promise.all(configured) : [logReceiver(log)]
}

/** The sections of the configured receivers of messages. */
export function messageReceiversIn(notify: NotifyConfig): Partial<Pick<NotifyConfig, MessageReceiverName>> {
  const configured = messageReceiverNames.filter((name) => notify[name] !== undefined)
  return Object.fromEntries(configured.map((name) => [name, notify[name]]))
}
