import { join } from 'node:path'
import { pino } from 'pino'
import { ReplaySubject } from 'rxjs'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { startDaemon } from '../../../src/daemon/daemon.ts'
import type { Config } from '../../../src/config/config.ts'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { RATIO } from '../../alerts/sample-rules.ts'
import { emptyFolder } from '../../commands/callwatch.ts'
import { watchedConfig } from './watched-config.ts'

/** A simulated service and a daemon that watches it, as in the demo, but quicker. */
export type WatchedWorld = {
  simulator: Simulator
  /** From then on nothing more happens to any call. */
  standStill: () => void
  /** Where the page is; the same after each start. */
  url: string
  start: () => Promise<void>
  stop: () => Promise<void>
}

export async function watchedWorld(): Promise<WatchedWorld> {
  let stoodStillAt: number | undefined
  const clock = () => stoodStillAt ?? systemClock.wall()
  const simulator = await startSimulator({ seed: 7, speed: 400, callsPerMinute: 900, open: 20, clock })
  onTestFinished(simulator.close)
  const store = join(emptyFolder(), 'callwatch.db')
  let port = 0
  let stop: (() => Promise<void>) | undefined

  const world: WatchedWorld = {
    simulator,
    standStill: () => (stoodStillAt = systemClock.wall()),
    url: '',
    start: async () => {
      const stop$ = new ReplaySubject<void>(1)
      const config = configOf(simulator, store, port)
      const log = pino({ level: 'silent' })
      const daemon = await startDaemon({ config, clock: systemClock, random: () => 0, log, stop$ })
      world.url = daemon.url
      port = Number(new URL(daemon.url).port)
      const ended = new Promise<void>((resolve, reject) => {
        daemon.events$.subscribe({ error: reject, complete: resolve })
      })
      stop = async () => {
        stop$.next()
        await ended
      }
    },
    stop: async () => {
      await stop?.()
      stop = undefined
    },
  }
  await world.start()
  onTestFinished(world.stop)
  return world
}

function configOf({ url, keys }: Simulator, path: string, port: number): Config {
  const config = watchedConfig('production', url, keys.fullAccess)
  return {
    ...config,
    store: { ...config.store, path },
    http: { ...config.http, port },
    // So low that it fires as soon as calls fail.
    alerts: [{ ...RATIO, threshold: 0.02, clear: 0.01, for: 0 }],
  }
}
