import type { ReceiverType } from './receiver.ts'
import { alertmanager } from './receivers/alertmanager/alertmanager.ts'
import { email } from './receivers/email/email.ts'
import { heartbeat } from './receivers/heartbeat/heartbeat.ts'
import { slack } from './receivers/slack/slack.ts'
import { webhook } from './receivers/webhook/webhook.ts'

/** The types of which any number of receivers may be configured, by their keys in the section `notify`. */
const named = {
  slack,
  alertmanager,
  webhook,
  email,
} satisfies Record<string, ReceiverType>

/** All types of receivers. Code that needs one of each iterates over this list. */
export const receivers = { ...named, heartbeat } satisfies Record<string, ReceiverType>

export type ReceiverName = keyof typeof receivers

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a list that never changes
export const receiverNames = Object.keys(receivers) as ReceiverName[]
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nor does this one
export const namedReceiverNames = Object.keys(named) as (keyof typeof named)[]
/** The types that accept messages and that routes can name. */
export const messageReceiverNames = receiverNames.filter((name) => !('notRouted' in receivers[name]))
