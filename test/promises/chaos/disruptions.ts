import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../kit/eventually.ts'
import { count, killDaemon, silence, startDaemon, stopDaemon, stopDaemonTwice, type ChaosRun } from './chaos-run.ts'
import type { DaemonProcess } from '../../kit/daemon-process.ts'
import { storeFull, storeLocked } from './store-problem.ts'

/** Something that happens to a running daemon; afterwards a daemon runs again. */
export type Disruption = (run: ChaosRun, daemon: DaemonProcess) => Promise<void>

/** In each round each comes once, in an order that the seed draws. */
export const disruptions: Readonly<Record<string, Disruption>> = {
  killedAtRandom: async (run, daemon) => {
    await wait(run.draw() * 1500)
    await killDaemon(run, daemon, 'kill.at_random')
    await startDaemon(run)
  },
  killedInCycle: async (run, daemon) => {
    await killedAsSoonAs(run, daemon, 'kill.in_cycle', (kill) => (run.requests.onRequest = kill))
    run.requests.onRequest = undefined
    await startDaemon(run)
  },
  killedBeforeCommit: (run, daemon) => killedInCommit(run, daemon, 'before'),
  killedAfterCommit: (run, daemon) => killedInCommit(run, daemon, 'after'),
  killedAfterNotification: async (run, daemon) => {
    // Without an outage no alert fires; with it one message says that polls fail, another that they succeed again. There is one in every
    // fifteen seconds, because none fires an alert before the initial sync is complete: with faults, that takes long on a slow machine.
    let turns = 0
    const turning = setInterval(() => run.simulator.setSwitches({ outage: turns++ % 5 === 0 }), OUTAGE_MS)
    await killedAsSoonAs(run, daemon, 'kill.after_notification', (kill) => (run.slack.onAccepted = kill))
    run.slack.onAccepted = undefined
    clearInterval(turning)
    run.simulator.setSwitches({ outage: false })
    await startDaemon(run)
  },
  stopped: async (run, daemon) => {
    await stopDaemon(run, daemon)
    await startDaemon(run)
  },
  stoppedTwice: async (run, daemon) => {
    run.isSteady = true
    const { fault } = run.simulator.switches()
    run.simulator.setSwitches({ fault: { hang: 1 } })
    await wait(HANGING_MS)
    await stopDaemonTwice(run, daemon)
    run.simulator.setSwitches({ fault })
    run.isSteady = false
    await startDaemon(run)
  },
  outage: async (run) => {
    run.simulator.setSwitches({ outage: true })
    await wait(OUTAGE_MS * (0.5 + run.draw() / 2))
    run.simulator.setSwitches({ outage: false })
    count(run, 'outage')
  },
  silenced: (run) => silence(run, { path: run.files.store }),
  full: storeFull,
  locked: storeLocked,
}

/** For something that occurs all the time (seconds). */
const TIMEOUT_SECONDS = 300
/** Longer than the rule about failing polls allows. */
const OUTAGE_MS = 3000
/** How much of a daemon's output is shown after a timeout (characters). */
const SHOWN_OUTPUT = 20_000
/** Until a cycle has begun that waits for its answer. */
const HANGING_MS = 600

async function killedAsSoonAs(
  run: ChaosRun,
  daemon: DaemonProcess,
  how: string,
  listen: (kill: () => void) => void,
): Promise<void> {
  let killed: Promise<void> | undefined
  listen(() => {
    killed ??= killDaemon(run, daemon, how)
  })
  await eventually(async () => killed?.then(() => true), TIMEOUT_SECONDS).catch((error: Error) => {
    throw new Error(`${how}: ${error.message}; the daemon last wrote:\n${daemon.output().slice(-SHOWN_OUTPUT)}`)
  })
}

async function killedInCommit(run: ChaosRun, daemon: DaemonProcess, side: 'before' | 'after'): Promise<void> {
  const paused = daemon.logged(new RegExp(`chaos: paused ${side} COMMIT`))
  writeFileSync(run.files.order, side)
  await paused
  await killDaemon(run, daemon, `kill.${side}_commit`)
  await startDaemon(run)
}
