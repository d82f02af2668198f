import { documentedGroups } from '../../alerts/groups.ts'
import type { Rule } from '../../alerts/rule.ts'
import { configuredReceivers, takesMessages } from '../../notifications/configured-receivers.ts'
import { recipientsBy } from '../../notifications/grouping.ts'
import { sendSamples } from '../../notifications/sample.ts'
import type { DaemonParts } from '../parts.ts'

/**
 * Sends samples to all receivers, beside each other. Those of the state are made anew: the daemon's own know what they have posted, and
 * would take the sample for all that fires.
 *
 * @returns for each of them why it has not accepted them; null if it has
 */
export async function testNotify({ config, receivers, clock, mask }: DaemonParts) {
  const { notify, targets } = config()
  const created = (await configuredReceivers(notify, { clock })).map(({ receiver }) => receiver)
  const all = [...receivers.all().filter(takesMessages), ...created.filter((one) => !takesMessages(one))]
  const byName = [...Map.groupBy(all, ({ name }) => name)]
  return Promise.all(
    byName.map(async ([receiver, own]) => {
      const samples = await Array.fromAsync(sendSamples(own, targets[0]!.name, clock.wall()))
      const [problem] = samples.flatMap(({ problems }) => problems)
      return { receiver, problem: problem === undefined ? null : mask(problem) }
    }),
  )
}

/**
 * The receivers of the alerts of a rule on any of these targets, by their names: those of messages by the routes, for any group of calls
 * that the rule has, and those of the state, which get all alerts.
 */
export function receiversOf({ config, receivers }: DaemonParts, rule: Rule, targets: readonly string[]): string[] {
  const messages = new Set(
    receivers
      .all()
      .filter(takesMessages)
      .map(({ name }) => name),
  )
  const states = receivers.all().flatMap((one) => (takesMessages(one) || one.isHeartbeat === true ? [] : one.name))
  const recipients = recipientsBy(config().notify.routes, [...messages])
  const alerts = targets.flatMap((target) =>
    documentedGroups(rule).map((labels) => ({ ...rule, alert: rule.name, target, labels })),
  )
  return [...new Set([...alerts.flatMap(recipients), ...states])]
}
