import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { ReplaySubject } from 'rxjs'
import { systemClock } from '../../../src/clock/clock.ts'
import { startDaemon } from '../../../src/daemon/daemon.ts'
import type { Config } from '../../../src/config/config.ts'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { pageConfig } from './page-config.ts'

/** A simulator and a daemon that polls it, as in the demo, but faster. */
export type PageWorld = {
  simulator: Simulator
  /** Stops time for the simulator: no call changes any more. */
  freeze: () => void
  /** The page; the same after each start. */
  url: string
  start: () => Promise<void>
  stop: () => Promise<void>
  /** Stops the daemon and the simulator. */
  close: () => Promise<void>
}

export async function pageWorld(): Promise<PageWorld> {
  let frozenAt: number | undefined
  const clock = () => frozenAt ?? systemClock.wall()
  const simulator = await startSimulator({ seed: 7, speed: 400, callsPerMinute: 300, open: 20, clock })
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-page-'))
  const receiver = createServer((_request, response) => response.end())
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const store = join(folder, 'callwatch.db')
  let port = 0
  let stop: (() => Promise<void>) | undefined

  const world: PageWorld = {
    simulator,
    freeze: () => (frozenAt = systemClock.wall()),
    url: '',
    start: async () => {
      const draining$ = new ReplaySubject<void>(1)
      const config = configOf(simulator, store, port, receiver)
      const log = pino({ level: 'silent' })
      const daemon = await startDaemon({ config, clock: systemClock, random: () => 0, log, draining$ })
      world.url = daemon.url
      port = Number(new URL(daemon.url).port)
      const ended = new Promise<void>((resolve, reject) => {
        daemon.events$.subscribe({ error: reject, complete: resolve })
      })
      stop = async () => {
        draining$.next()
        await ended
      }
    },
    stop: async () => {
      await stop?.()
      stop = undefined
    },
    close: async () => {
      await world.stop()
      await simulator.close()
      receiver.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await world.start()
  return world
}

function configOf({ url, keys }: Simulator, path: string, port: number, receiver: Server): Config {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port: to } = receiver.address() as AddressInfo
  const config = pageConfig('production', url, keys.fullAccess)
  return {
    ...config,
    store: { ...config.store, path },
    http: { ...config.http, port },
    notify: {
      ...config.notify,
      receivers: [{ name: 'team', type: 'webhook', config: { url: `http://127.0.0.1:${to}`, headers: {} } }],
    },
    // Fires as soon as calls fail.
    alerts: [{ ...RATIO, threshold: 0.02, clear: 0.01, for: 0 }],
  }
}
