import { onceEach } from '../../alerts/once-each.ts'
import { STALE_INTERVALS } from '../../clock/intervals.ts'
import type { MessagesOptions } from '../../notifications/delivery/message-round.ts'
import { suppressionNotes } from '../../notifications/delivery/suppression-notes.ts'
import { grouping, recipientsBy, type Routable } from '../../notifications/grouping.ts'
import type { MessageReceiver } from '../../notifications/receiver.ts'
import type { DaemonParts } from '../parts.ts'
import type { NotifiedReceivers } from './notified-receivers.ts'

/** What was evaluated before this time (UNIX seconds) is old. */
export const freshFrom =
  ({ clock, config }: Pick<DaemonParts, 'clock' | 'config'>) =>
  () =>
    clock.wall() - STALE_INTERVALS * config().poll.interval

/** Which receivers are notified of an alert, and in which group, by the configuration of now. */
export function routingOf({ config, receivers }: DaemonParts) {
  const { notify, alerts: rules } = config()
  const recipients = onceEach(recipientsBy(notify.routes, receivers.names()))
  const groupOf = grouping(notify, rules)
  return { recipients, groupOf, prepare: (alert: Routable) => void [recipients(alert), groupOf(alert)] }
}

/** What the messages to a receiver are made with, by the configuration of now. */
export function messagesOptions(
  parts: DaemonParts,
  notified: NotifiedReceivers,
  { now, routing }: { now: MessagesOptions['now']; routing: ReturnType<typeof routingOf> },
): (receiver: MessageReceiver) => MessagesOptions {
  const { config, clock, store, targets } = parts
  const { notify, http, alerts: rules } = config()
  const { recipients, groupOf } = routing
  const note = suppressionNotes(store)
  return ({ name, key = name }) => ({
    note,
    clock,
    ...notify,
    groupOf,
    rules,
    targets: () => targets.all().length,
    fleet: () => config().targets,
    freshFrom: freshFrom(parts),
    isSent: (alert: Routable) => recipients(alert).includes(name),
    publicUrl: http.publicUrl,
    notified: async () => (await notified.all()).get(key)!,
    now,
  })
}
