import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../system/eventually.ts'
import { count, killDaemon, startDaemon, stopDaemon, stopDaemonTwice, type ChaosRun } from './chaos-run.ts'
import type { DaemonProcess } from './daemon-process.ts'
import { storeFull, storeLocked } from './store-trouble.ts'

/** Something that happens to a running daemon; when it is over a daemon runs again. */
export type Mishap = (run: ChaosRun, daemon: DaemonProcess) => Promise<void>

/** In each round each comes once, in an order that the seed draws. */
export const mishaps: Readonly<Record<string, Mishap>> = {
  killedSomewhen: async (run, daemon) => {
    await wait(run.draw() * 1500)
    await killDaemon(run, daemon, 'kill.somewhen')
    await startDaemon(run)
  },
  killedInCycle: async (run, daemon) => {
    await killedAsSoonAs(run, daemon, 'kill.in_cycle', (kill) => (run.requests.onRequest = kill))
    run.requests.onRequest = undefined
    await startDaemon(run)
  },
  killedBeforeCommit: (run, daemon) => killedInCommit(run, daemon, 'before'),
  killedAfterCommit: (run, daemon) => killedInCommit(run, daemon, 'after'),
  killedWhenTold: async (run, daemon) => {
    // While nothing goes wrong nothing is said: that polls fail is one message, that they work again another.
    run.simulator.setSwitches({ outage: true })
    const over = setTimeout(() => run.simulator.setSwitches({ outage: false }), OUTAGE_MS)
    await killedAsSoonAs(run, daemon, 'kill.when_told', (kill) => (run.slack.onAccepted = kill))
    run.slack.onAccepted = undefined
    clearTimeout(over)
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
  full: storeFull,
  locked: storeLocked,
}

/** Seconds in which something comes about that comes about all the time. */
const PATIENCE = 90
/** Longer than the rule about failing polls is patient. */
const OUTAGE_MS = 3000
/** How much of what a daemon wrote is told where it did not do what was waited for (characters). */
const LAST_WORDS = 20_000
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
  await eventually(async () => killed?.then(() => true), PATIENCE).catch((error: Error) => {
    throw new Error(`${how}: ${error.message}; the daemon last said:\n${daemon.output().slice(-LAST_WORDS)}`)
  })
}

async function killedInCommit(run: ChaosRun, daemon: DaemonProcess, side: 'before' | 'after'): Promise<void> {
  const paused = daemon.said(new RegExp(`chaos: paused ${side} COMMIT`))
  writeFileSync(run.files.order, side)
  await paused
  await killDaemon(run, daemon, `kill.${side}_commit`)
  await startDaemon(run)
}
