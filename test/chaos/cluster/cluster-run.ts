import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../../../src/simulator/random.ts'
import type { Simulator } from '../../../src/simulator/simulator.ts'
import type { PostgresServer } from '../../postgres/start-postgres.ts'
import { startDaemonProcess, type DaemonProcess } from '../daemon-process.ts'
import { now, type RequestLog } from '../observed-requests.ts'
import { TAKE_OVER } from './cluster-config.ts'
import type { DatabaseProxy } from './database-proxy.ts'

/** A target, its service, and what that was asked. */
export type ClusterTarget = { name: string; simulator: Simulator; requests: RequestLog }

/** One of the two servers of the database, behind its proxy. */
export type Server = { postgres: PostgresServer; proxy: DatabaseProxy }

/** All that a run is made of and has come to so far. Changed in place. */
export type ClusterRun = {
  draw: Random
  targets: readonly ClusterTarget[]
  files: { config: string; order: string }
  /** Those that run, the oldest first. */
  daemons: DaemonProcess[]
  /** How many there should be. */
  size: number
  primary: Server
  /** Gone once it was promoted. */
  standby: Server | undefined
  outputs: (() => string)[]
  /** How often each mishap came about. */
  reached: Map<string, number>
  /** After which a message may come twice: whoever sent it may have died, been halted or cut off before that was noted. */
  interruptions: number
  stops: { seconds: number; code: number | null }[]
  /** When a daemon or the database was last hit so that targets have to be taken over (monotonic seconds). */
  hitAt: number
}

export async function startOne(run: ClusterRun): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(run.files.config, run.files.order)
  run.outputs.push(daemon.output)
  run.daemons.push(daemon)
  return daemon
}

/** One that the seed draws. */
export function anyDaemon({ daemons, draw }: ClusterRun): DaemonProcess {
  return daemons[Math.floor(draw() * daemons.length)]!
}

export function leaveOut(run: ClusterRun, daemon: DaemonProcess): void {
  run.daemons.splice(run.daemons.indexOf(daemon), 1)
  run.interruptions += 1
}

/**
 * Waits until what was hit last has been made up for. How long a target may go without a look is promised for one failure;
 * where the one who takes over is hit in turn, it begins anew.
 */
export async function madeUpFor({ hitAt }: ClusterRun): Promise<void> {
  await wait(Math.max(0, hitAt + TAKE_OVER - now()) * 1000)
}

export function count(run: ClusterRun, what: string): void {
  run.reached.set(what, (run.reached.get(what) ?? 0) + 1)
}
