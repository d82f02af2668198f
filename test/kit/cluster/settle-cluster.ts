import { setTimeout as wait } from 'node:timers/promises'
import { now } from '../observed-requests.ts'
import { textAt } from '../scraper.ts'
import { DELIVERIES, healServices, isDelivered, isNothingLeft, silence } from '../../promises/chaos/settle.ts'
import type { ClusterRun } from '../../promises/chaos/cluster/cluster-run.ts'

/** Seconds that the slowest sweep may take. */
const SWEEPS = 180

export type TargetView = {
  name: string
  owner?: string
  created: string
  commit: number
  lag_seconds: number
  sweep_age_seconds: number | null
  finished: Record<string, number>
}

/** What a daemon says of all targets, its own and the others'. */
export async function statusAt(url: string): Promise<TargetView[]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
  return (JSON.parse(await textAt(`${url}api/v1/state`)) as { targets: TargetView[] }).targets
}

/**
 * Heals everything, and waits until each target had a complete sweep and another poll after the end of every call, and
 * until no notification is left.
 *
 * @param messages how many have come
 * @returns what is left undone, a line each
 */
export async function settleCluster(
  { targets, daemons }: Pick<ClusterRun, 'targets' | 'daemons'>,
  messages: () => number,
): Promise<string[]> {
  const { url } = daemons[0]!
  const { undone, until } = await healServices(targets.map(({ simulator }) => simulator))
  const quiet = now()
  // An answer that began before does not count.
  await wait(1000)
  await until('each target has a complete sweep', SWEEPS, async () => {
    const since = now() - quiet
    return (await statusAt(url)).every(({ sweep_age_seconds: age }) => age !== null && age < since - 1)
  })
  const swept = now()
  await until('each target has another poll', SWEEPS, async () => {
    const since = now() - swept
    return (await statusAt(url)).every(({ lag_seconds: lag }) => lag < since - 1)
  })
  const isSilent = silence(messages)
  await until('no alert, no message and no event are left', DELIVERIES, async () => {
    return (await isDelivered(url)) && (await isNothingLeft(url)) && isSilent()
  })
  return undone
}
