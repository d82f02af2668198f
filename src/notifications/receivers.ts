import type { ReceiverType } from './receiver.ts'
import { alertmanager } from './receivers/alertmanager/alertmanager.ts'
import { email } from './receivers/email/email.ts'
import { heartbeat } from './receivers/heartbeat/heartbeat.ts'
import { slack } from './receivers/slack/slack.ts'
import { webhook } from './receivers/webhook/webhook.ts'

/** All types of receivers, by their keys in the section `notify`. Code that needs one of each iterates over this list. */
export const receivers = {
  slack,
  alertmanager,
  webhook,
  email,
  heartbeat,
} satisfies Record<string, ReceiverType>

type Receivers = typeof receivers
export type ReceiverName = keyof Receivers

/** The types of which any number of receivers may be configured. */
export type NamedReceiverName = {
  [Name in ReceiverName]: Receivers[Name] extends { isSingle: true } ? never : Name
}[ReceiverName]

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a list that never changes
export const receiverNames = Object.keys(receivers) as ReceiverName[]
export const namedReceiverNames = receiverNames.filter(isNamed)
/** The types that accept messages and that routes can name. */
export const messageReceiverNames = receiverNames.filter((name) => 'create' in receivers[name])

function isNamed(name: ReceiverName): name is NamedReceiverName {
  return !('isSingle' in receivers[name])
}
