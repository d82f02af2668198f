import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../system/eventually.ts'
import { now } from '../observed-requests.ts'
import { textAt } from '../scraper.ts'
import type { ClusterRun } from './cluster-run.ts'

/** A running call says something new every second or two: after so many seconds without an event all have ended. */
const QUIET = 5
/** Seconds that the longest call, the slowest sweep and the last message may take. */
const LONGEST_CALL = 90
const SWEEPS = 90
const MESSAGES = 60

export type TargetStatus = {
  name: string
  owner?: string
  created: string
  commit: number
  lag_seconds: number
  sweep_age_seconds: number | null
  finished: Record<string, number>
}

/** What a daemon says of all targets, its own and the others'. */
export async function statusAt(url: string): Promise<TargetStatus[]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
  return (JSON.parse(await textAt(`${url}api/v1/status`)) as { targets: TargetStatus[] }).targets
}

/**
 * Heals everything, lets no more calls begin, and waits until every call has ended, until each target had a complete
 * sweep and another poll after that, and until no notification is left.
 *
 * @returns what is left undone, a line each
 */
export async function settleCluster({ targets, daemons }: ClusterRun): Promise<string[]> {
  for (const { simulator } of targets) {
    simulator.heal()
    simulator.setSwitches({ arrivals: false, outage: false })
  }
  const { url } = daemons[0]!
  const undone: string[] = []
  const until = async (what: string, seconds: number, isSo: () => Promise<boolean>) => {
    await eventually(async () => ((await isSo()) ? true : undefined), seconds).catch((error: Error) => {
      undone.push(`${what}: ${error.message}`)
    })
  }
  await until('every call has ended', LONGEST_CALL, async () => {
    const last = Math.max(...targets.map(({ simulator }) => simulator.ledger().at(-1)?.at ?? 0))
    return Date.now() / 1000 - last > QUIET
  })
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
  await until('no alert and no message are left', MESSAGES, async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
    const { alerts } = JSON.parse(await textAt(`${url}api/v1/alerts`)) as { alerts: unknown[] }
    const metrics = await textAt(`${url}metrics`)
    return alerts.length === 0 && metrics.includes('callwatch_notifications_pending{notifier="slack"} 0')
  })
  return undone
}
