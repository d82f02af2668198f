import { takesMessages } from '../../notifications/configured-receivers.ts'
import { recipientsBy } from '../../notifications/grouping.ts'
import { sendSamples } from '../../notifications/sample.ts'
import type { Rule } from '../../alerts/rule.ts'
import type { DaemonParts } from '../parts.ts'

/** Sends samples to all receivers. @returns for each of them why it has not accepted them; null if it has */
export async function testNotify({ config, receivers, clock, mask }: DaemonParts) {
  const problems = new Map<string, readonly string[]>()
  for await (const sample of sendSamples(receivers.all(), config().targets[0]!.name, clock.wall()))
    problems.set(sample.receiver, [...(problems.get(sample.receiver) ?? []), ...sample.problems])
  return [...problems].map(([receiver, all]) => ({ receiver, problem: all.length === 0 ? null : mask(all[0]!) }))
}

/** The receivers of messages about the alerts of a rule on any of these targets, by their names. */
export function receiversOf({ config, receivers }: DaemonParts, rule: Rule, targets: readonly string[]): string[] {
  const names = new Set(
    receivers
      .all()
      .filter(takesMessages)
      .map(({ name }) => name),
  )
  const recipients = recipientsBy(config().notify.routes, [...names])
  return [...new Set(targets.flatMap((target) => recipients({ ...rule, alert: rule.name, target, labels: {} })))]
}
