import { documentedGroups } from '../../alerts/groups.ts'
import { onceEach } from '../../alerts/once-each.ts'
import type { Rule } from '../../alerts/rule.ts'
import { STALE_INTERVALS } from '../../clock/intervals.ts'
import { takesMessages } from '../../notifications/configured-receivers.ts'
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

/**
 * The receivers of the alerts of a rule on any of these targets, by their names: those of messages by the routes, for any group of calls
 * that the rule has, and those of the state, which get all alerts.
 */
export function receiversOf(
  { config, receivers }: Pick<DaemonParts, 'config' | 'receivers'>,
  rule: Rule,
  targets: readonly string[],
): string[] {
  const all = receivers.all()
  const messages = all.filter(takesMessages).map(({ name }) => name)
  const states = all.flatMap((one) => (takesMessages(one) || one.isHeartbeat === true ? [] : one.name))
  const recipients = recipientsBy(config().notify.routes, messages)
  const alerts = targets.flatMap((target) =>
    documentedGroups(rule).map((labels) => ({ ...rule, alert: rule.name, target, labels })),
  )
  return [...new Set([...alerts.flatMap(recipients), ...states])]
}

/** What the messages to a receiver are made with, by the configuration of now. */
export function messagesOptions(
  parts: DaemonParts,
  notified: NotifiedReceivers,
  { now, routing }: { now: MessagesOptions['now']; routing: ReturnType<typeof routingOf> },
): (receiver: MessageReceiver) => MessagesOptions {
  const { config, clock, store, targets, mask } = parts
  const { notify, http, alerts: rules } = config()
  const { recipients, groupOf } = routing
  const note = suppressionNotes(store)
  return ({ name, key = name }) => ({
    note,
    mask,
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
