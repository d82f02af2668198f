import type { Clock } from '../clock/clock.ts'
import { logNotifier, type NotifierLine } from './log-notifier.ts'
import type { Notifier } from './notifier.ts'
import type { NotifyConfig } from './notify-section.ts'
import type { MessageReceiver } from './receiver.ts'
import { messageReceiverNames, receivers, type MessageReceiverName } from './receivers.ts'

export type NotifierDeps = { clock: Clock; log: (line: NotifierLine) => void }

/** A notifier for each configured receiver of messages; the log, where there is none (Alertmanager takes no messages). */
export async function notifiersOf(notify: NotifyConfig, { clock, log }: NotifierDeps): Promise<readonly Notifier[]> {
  const configured = Object.entries(messageReceiversIn(notify)).map(async ([name, config]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow which config is whose
    const receiver: MessageReceiver = receivers[name as MessageReceiverName]
    return { name, send: await receiver.create(config, { clock }) }
  })
  return configured.length > 0 ? Promise.all(configured) : [logNotifier(log)]
}

/** What notifiers depend on: the sections of those receivers of messages that are configured. */
export function messageReceiversIn(notify: NotifyConfig): Partial<Pick<NotifyConfig, MessageReceiverName>> {
  const configured = messageReceiverNames.filter((name) => notify[name] !== undefined)
  return Object.fromEntries(configured.map((name) => [name, notify[name]]))
}
