import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { LedgerEvent } from '../../../src/simulator/calls/ledger.ts'
import type { RecordedResponse } from '../../../src/simulator/answers/responses.ts'
import { type Series, exactFamilies, expectedSeries } from '../../../src/simulator/expected/expected-series.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { eventually } from '../../kit/eventually.ts'
import { startProgram, type Program } from './program.ts'
import { difference, parseExposition } from '../../kit/replay/exposition.ts'

const API_KEY = 'simulator-full-access'
/** Half of what a slow test has. */
const SECONDS = 150

/** The simulated service as a process of its own, and daemons that poll it on one store. */
export type SystemWorld = {
  /** Starts a daemon; resolves when it has read the whole list. @param env with `CALLWATCH_STORE_URL`, a database instead of the world's file */
  startDaemon: (env?: Record<string, string>, main?: string) => Promise<Daemon>
  setSwitches: (switches: object) => Promise<void>
  ledger: () => Promise<{ now: number; events: LedgerEvent[] }>
  responses: () => Promise<RecordedResponse[]>
}

export type Daemon = {
  program: Program
  /** What it exports now, without the target label. */
  scrape: () => Promise<Series>
  /** When the store first knew the target (UNIX seconds). */
  created: () => Promise<number>
}

/** @param simulatorArgs further options of `callwatch simulate` */
export async function systemWorld(...simulatorArgs: string[]): Promise<SystemWorld> {
  const simulator = startProgram(['simulate', '--port', '0', ...simulatorArgs])
  const [, url] = await simulator.printed(/calls service: (\S+)/)
  const control = `${new URL(url!).origin}/_simulator`
  const folder = temporaryFolder()
  const config = join(folder, 'callwatch.yaml')
  writeFileSync(config, configuration(url!))
  return {
    startDaemon: async (env = { CALLWATCH_STORE_PATH: join(folder, 'callwatch.db') }, main) => {
      const program = startProgram(['run', '--config', config], env, main)
      const [, page] = await program.printed(/page at (http:\S+?)"/)
      const scrape = async () => parseExposition(await (await fetch(`${page}metrics`)).text())
      await eventually(async () => ((await polls({ scrape }, 'complete')) > 0 ? true : undefined), SECONDS)
      return {
        program,
        scrape,
        created: async () => {
          const status = await getJson<{ targets: { created: string }[] }>(`${page}api/v1/state`)
          return Date.parse(status.targets[0]!.created) / 1000
        },
      }
    },
    setSwitches: async (switches) => {
      const response = await fetch(`${control}/switches`, { method: 'POST', body: JSON.stringify(switches) })
      if (!response.ok) throw new Error(await response.text())
    },
    ledger: () => getJson(`${control}/ledger`),
    responses: async () => (await getJson<{ responses: RecordedResponse[] }>(`${control}/responses`)).responses,
  }
}

/** How many polls of a daemon have ended like this. */
export async function polls({ scrape }: Pick<Daemon, 'scrape'>, outcome: string): Promise<number> {
  return (await scrape()).get(`callwatch_polls_total{outcome="${outcome}"}`) ?? 0
}

/** Small pages and quick sweeps, so that every kind of poll occurs within seconds. */
function configuration(url: string): string {
  return `
targets: [{ base_url: '${url}', api_key: ${API_KEY} }]
poll: { interval: 500ms, page_size: 40, sweep_interval: 4s, max_requests_per_minute: 6000 }
http: { host: 127.0.0.1, port: 0 }
`
}

/** Lets no more calls begin, and waits until the last has ended and the daemon has seen the whole list twice since. */
export async function settle(world: SystemWorld, daemon: Daemon): Promise<void> {
  await world.setSwitches({ arrivals: false })
  await eventually(async () => {
    const { now, events } = await world.ledger()
    const open = expectedSeries(events, { created: 0, baseline: 'count', now })
    return [...open.keys()].some((series) => series.startsWith('callwatch_calls_in_progress')) ? undefined : true
  }, SECONDS)
  const before = await polls(daemon, 'complete')
  await eventually(async () => ((await polls(daemon, 'complete')) >= before + 2 ? true : undefined), SECONDS)
}

/** Where the daemon's exact series differ from what the simulator says happened. */
export async function exactDifferences(world: SystemWorld, daemon: Daemon) {
  const { now, events } = await world.ledger()
  const expected = expectedSeries(events, { created: await daemon.created(), baseline: 'count', now })
  return { expected, differences: difference(expected, await daemon.scrape(), exactFamilies) }
}

/** Lets the world run for that many seconds of the real clock. */
export function live(seconds: number): Promise<void> {
  return wait(seconds * 1000)
}

async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own processes answer
  return (await response.json()) as T
}
