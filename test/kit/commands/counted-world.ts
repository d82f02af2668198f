import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { startWorld, type SimulatedWorld, type WorldOptions as SimulatedOptions } from '../world/start-world.ts'
import { CALL_COLUMNS, callOfRow, valuesOf } from '../../../src/store/call-columns.ts'
import { daemonInProcess } from '../daemon/daemon-in-process.ts'
import { configFile, emptyFolder, start } from './callwatch.ts'

const KEY = 'hunter2-hunter2'
const WAIT = { timeout: 60_000, interval: 50 }

/** A simulated service, and a daemon that counts it into a file. */
export type CountedWorld = {
  simulator: SimulatedWorld
  /** Paths of the configuration and the store, for the commands. */
  config: string
  /** The same configuration for a command that waits for polls, up to eleven seconds for two of them. */
  patient: string
  store: string
  /** Resolves once the first poll has succeeded, and this many calls have finished and are counted. */
  finished: (calls: number) => Promise<void>
  /** Ends the daemon, as SIGTERM does. */
  stop: () => Promise<void>
  /** Starts no more calls, waits until none is open, and ends the daemon. */
  settle: () => Promise<void>
}

type WorldOptions = SimulatedOptions & {
  sweepInterval?: string
  /** Whether the daemon is a process of its own. */
  process?: boolean
}

type TargetView = {
  last_success: string | null
  in_progress: number
  tracked_calls: number
  finished: Record<string, number>
}

export async function countedWorld({
  sweepInterval = '1h',
  process: isProcess = false,
  ...options
}: WorldOptions = {}): Promise<CountedWorld> {
  const simulator = await startWorld({ apiKey: KEY, callsPerMinute: 900, speed: 1500, ...options })
  onTestFinished(simulator.close)
  const store = join(emptyFolder(), 'callwatch.db')
  const config = configFor(simulator.url, store, { sweepInterval })
  const patient = configFor(simulator.url, store, { interval: '3s' })
  const { page, stop } = await (isProcess ? daemonProcess(config) : daemonHere(simulator.url, config))
  const view = async () => {
    const status = await (await fetch(`${page}api/v1/state`)).text()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
    return (JSON.parse(status) as { targets: TargetView[] }).targets[0]!
  }
  const finished = (calls: number) =>
    vi.waitFor(async () => {
      const { last_success, finished: counts } = await view()
      const { ended = 0, unanswered = 0, rejected = 0, canceled = 0 } = counts
      expect(last_success).not.toBeNull()
      expect(ended + unanswered + rejected + canceled).toBeGreaterThanOrEqual(calls)
    }, WAIT)
  const settle = async () => {
    simulator.setSwitches({ arrivals: false })
    const open = () => [...simulator.expectedCalls().values()].filter(({ final }) => !final).length
    await vi.waitFor(() => expect(open()).toBe(0), WAIT)
    const all = { in_progress: 0, tracked_calls: simulator.expectedCalls().size }
    await vi.waitFor(async () => expect(await view()).toMatchObject(all), WAIT)
    await stop()
  }
  return { simulator, config, patient, store, finished, stop, settle }
}

async function daemonProcess(config: string) {
  const { printed, child, ended } = start(['run', '--config', config])
  const [, page = ''] = await printed(/"url":"(http:[^"]+)"/)
  const stop = async () => {
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  }
  return { page, stop }
}

async function daemonHere(url: string, file: string) {
  const config = loadConfig({ file, env: {}, cwd: '/' })
  const { daemon, stop } = await daemonInProcess(url, {}, config)
  return { page: daemon.url, stop }
}

/** A configuration for the target `production`, with fast polls by default; its path. */
export function configFor(
  url: string,
  store: string,
  { interval = '100ms', sweepInterval = '1h', apiKey = KEY } = {},
): string {
  return configFile(`
targets: [{ name: production, base_url: '${url}', api_key: ${apiKey} }]
poll: { interval: ${interval}, page_size: 100, sweep_interval: ${sweepInterval}, max_requests_per_minute: 6000, retries: 1 }
store: { path: '${store}' }
http: { host: 127.0.0.1, port: 0 }
`)
}

/** The counted calls of a store, by ID. */
export function countedCalls(store: string): TrackedCall[] {
  return withStore(store, (db) =>
    db.prepare('SELECT * FROM calls WHERE finished IS NOT NULL ORDER BY id').all().map(callOfRow),
  )
}

/** Replaces the row of a call, as a bad disk or a person might. */
export function tamper(store: string, call: TrackedCall): void {
  withStore(store, (db) =>
    db
      .prepare(`UPDATE calls SET ${CALL_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`)
      .run(...valuesOf(call), call.id),
  )
}

export function withStore<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { timeout: 5000 })
  try {
    return work(db)
  } finally {
    db.close()
  }
}
