import { setTimeout as wait } from 'node:timers/promises'
import { openForCommand, type StoreAddress } from '../../../src/store/open-store.ts'
import type { Random } from '../../../src/simulator/random.ts'
import type { SimulatedWorld } from '../../kit/world/start-world.ts'
import { startDaemonProcess, type DaemonProcess } from '../../kit/daemon-process.ts'
import type { FailingOthers } from './failing-others.ts'
import type { FailingSlack } from './failing-slack.ts'
import type { FailingWebhook } from './failing-webhook.ts'
import { now, type RequestLog } from '../../kit/observed-requests.ts'

/** The parts and results of a chaos run. Changed in place. */
export type ChaosRun = {
  draw: Random
  simulator: SimulatedWorld
  requests: RequestLog
  slack: FailingSlack
  /** A second receiver of alerts, a webhook. */
  onCall: FailingSlack
  /** The receivers of the other kinds. */
  others: FailingOthers
  webhook: FailingWebhook
  files: { config: string; store: string; order: string }
  /** The daemon, while it is running. */
  daemon: DaemonProcess | undefined
  /** One for each process that was started, the first is 1. */
  life: number
  /** When a process was killed or held in a commit (monotonic seconds). */
  deaths: number[]
  /** What every process has written. */
  outputs: (() => string)[]
  /** How often each disruption occurred. */
  reached: Map<string, number>
  /** Seconds that each SIGTERM took, and the exit code. */
  stops: { seconds: number; code: number | null }[]
  /** Seconds that each second SIGTERM took, sent while the first one waited for a cycle. */
  secondStops: number[]
  /** The results of the store's problems. */
  storeProblems: StoreProblem[]
  /** While set, switches are not drawn again. */
  isSteady: boolean
}

export type StoreProblem = {
  kind: 'full' | 'locked'
  /** `callwatch_store_writable` was 0. */
  shown: boolean
  /** `/readyz` said so. */
  unready: boolean
  /** Requests to the service meanwhile. */
  requests: number
  /** Counters about calls that moved meanwhile. */
  counted: number
  /** A notification was sent, which does not need the store. */
  notified: boolean
  /** Seconds until it was shown as writable again; undefined if it never was. */
  recovered: number | undefined
}

const BETWEEN_SIGNALS_MS = 100

export async function startDaemon(run: ChaosRun): Promise<DaemonProcess> {
  run.life += 1
  const daemon = await startDaemonProcess(run.files.config, run.files.order)
  run.outputs.push(daemon.output)
  run.daemon = daemon
  return daemon
}

export async function killDaemon(run: ChaosRun, daemon: DaemonProcess, how: string): Promise<void> {
  run.daemon = undefined
  run.deaths.push(now())
  const code = await daemon.end('SIGKILL')
  if (code !== null) throw new Error(`the daemon had ended by itself with ${code}:\n${daemon.output().slice(-2000)}`)
  count(run, how)
}

/** Stops the daemon as an orchestrator does, and records how long that takes. */
export async function stopDaemon(run: ChaosRun, daemon: DaemonProcess): Promise<void> {
  run.daemon = undefined
  const begun = now()
  run.deaths.push(begun)
  const timeout = setTimeout(() => daemon.child.kill('SIGKILL'), 20_000)
  const code = await daemon.end('SIGTERM')
  clearTimeout(timeout)
  run.stops.push({ seconds: now() - begun, code })
  run.deaths.push(now())
  count(run, 'stop.sigterm')
}

/** Stops the daemon twice while it waits for an answer. */
export async function stopDaemonTwice(run: ChaosRun, daemon: DaemonProcess): Promise<void> {
  run.daemon = undefined
  run.deaths.push(now())
  daemon.child.kill('SIGTERM')
  await wait(BETWEEN_SIGNALS_MS)
  const isWaiting = daemon.child.exitCode === null
  const begun = now()
  await daemon.end('SIGTERM')
  run.deaths.push(now())
  if (!isWaiting) return
  run.secondStops.push(now() - begun)
  count(run, 'stop.second_sigterm')
}

/** Silences everything for a while, so that what fires meanwhile waits or is discarded. */
export async function silence(run: Pick<ChaosRun, 'draw' | 'reached'>, address: StoreAddress): Promise<void> {
  const store = await openForCommand(address)
  const since = Date.now() / 1000
  const seconds = 1 + run.draw() * 4
  await store.addSilence({ match: {}, since, until: since + seconds, reason: 'chaos' })
  await store.close()
  await wait(seconds * 1000)
  count(run, 'silence.added')
}

export function count({ reached }: Pick<ChaosRun, 'reached'>, what: string): void {
  reached.set(what, (reached.get(what) ?? 0) + 1)
}
