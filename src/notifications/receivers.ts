import type { ReceiverType } from './receiver-type.ts'
import { alertmanager } from './receivers/alertmanager/alertmanager.ts'
import { email } from './receivers/email/email.ts'
import { heartbeat } from './receivers/heartbeat/heartbeat.ts'
import { slack } from './receivers/slack/slack.ts'
import { webhook } from './receivers/webhook/webhook.ts'

/** All receivers, by their keys in the section `notify`. Code that needs one of each iterates over this list. */
export const receivers = {
  slack,
  alertmanager,
  webhook,
  email,
  heartbeat,
} satisfies Record<string, ReceiverType>

type Receivers = typeof receivers
export type ReceiverName = keyof Receivers

/** Those that are notified of alerts: of each there may be any number, by name. */
export type AlertReceiverName = Exclude<ReceiverName, 'heartbeat'>

/** Those that take messages. */
export type MessageReceiverName = {
  [Name in ReceiverName]: Receivers[Name] extends { create: unknown } ? Name : never
}[ReceiverName]

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a list that never changes
export const receiverNames = Object.keys(receivers) as ReceiverName[]
export const alertReceiverNames = receiverNames.filter((name) => name !== 'heartbeat')
export const messageReceiverNames = receiverNames.filter(takesMessages)

function takesMessages(name: ReceiverName): name is MessageReceiverName {
  return 'create' in receivers[name]
}
