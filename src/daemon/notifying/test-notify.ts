import { configuredReceivers, takesMessages } from '../../notifications/configured-receivers.ts'
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
