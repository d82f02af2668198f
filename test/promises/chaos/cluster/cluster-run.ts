import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../../../../src/simulator/random.ts'
import type { SimulatedWorld } from '../../../kit/world/start-world.ts'
import type { PostgresServer } from '../../../kit/postgres/start-postgres.ts'
import { startDaemonProcess, type DaemonProcess } from '../../../kit/daemon-process.ts'
import { eventually } from '../../../kit/eventually.ts'
import { now, type RequestLog } from '../../../kit/observed-requests.ts'
import { FAILOVER_SECONDS } from './cluster-config.ts'
import type { DatabaseProxy } from '../../../kit/cluster/database-proxy.ts'

/** A target, its service, and the requests to that. */
export type ClusterTarget = { name: string; simulator: SimulatedWorld; requests: RequestLog }

/** One of the two servers of the database, behind its proxy. */
export type Server = { postgres: PostgresServer; proxy: DatabaseProxy }

/** The parts and results of a run. Changed in place. */
export type ClusterRun = {
  draw: Random
  targets: readonly ClusterTarget[]
  files: { config: string; order: string }
  /** Those that run, the oldest first. */
  daemons: DaemonProcess[]
  /** How many there should be. */
  size: number
  primary: Server
  /** Absent once it was promoted. */
  standby: Server | undefined
  outputs: (() => string)[]
  /** How often each disruption occurred. */
  reached: Map<string, number>
  /** After which a message may come twice: its sender may have died, been halted or cut off before that was recorded. */
  interruptions: number
  stops: { seconds: number; code: number | null }[]
  /** When a daemon or the database was last hit so that targets need a failover (monotonic seconds). */
  hitAt: number
}

export async function startOne(run: ClusterRun): Promise<DaemonProcess> {
  // One that cannot reach the database at its start ends; an orchestrator starts it again.
  const daemon = await eventually(() => startDaemonProcess(run.files.config, run.files.order), 120)
  run.outputs.push(daemon.output)
  run.daemons.push(daemon)
  return daemon
}

/** One that the seed draws. */
export function anyDaemon({ daemons, draw }: ClusterRun): DaemonProcess {
  return daemons[Math.floor(draw() * daemons.length)]!
}

export function remove(run: ClusterRun, daemon: DaemonProcess): void {
  run.daemons.splice(run.daemons.indexOf(daemon), 1)
  run.interruptions += 1
}

/**
 * Waits until the last failure has been recovered from. How long a target may be without a poll is promised for one
 * failure; if its new owner fails as well, the time starts again.
 */
export async function recovered({ hitAt }: ClusterRun): Promise<void> {
  await wait(Math.max(0, hitAt + FAILOVER_SECONDS - now()) * 1000)
}
