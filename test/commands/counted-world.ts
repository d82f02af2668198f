import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, vi } from 'vitest'
import { packCall } from '../../src/ledger/call-record.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.ts'
import { callOf } from '../../src/store/call-row.ts'
import { configFile, emptyFolder, start, type Running } from './callwatch.ts'

const KEY = 'hunter2-hunter2'
const WAIT = { timeout: 20_000, interval: 100 }

/** A simulated service, and a daemon as a process of its own that counts it into a file. */
export type CountedWorld = {
  simulator: Simulator
  /** The configuration and the store, as the commands are told of them. */
  config: string
  store: string
  daemon: Running
  /** Where the daemon's page is. */
  page: string
  /** Resolves once so many calls are over and counted. */
  finished: (calls: number) => Promise<void>
  /** Lets no more calls begin, waits until none is open, and ends the daemon. */
  settle: () => Promise<void>
}

type TargetView = { in_progress: number; tracked_calls: number; finished: Record<string, number> }

export async function countedWorld({
  sweepInterval = '1h',
  ...options
}: SimulatorOptions & { sweepInterval?: string } = {}): Promise<CountedWorld> {
  const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 900, speed: 1500, ...options })
  onTestFinished(simulator.close)
  const store = join(emptyFolder(), 'callwatch.db')
  const config = configFor(simulator.url, store, { sweepInterval })
  const daemon = start(['run', '--config', config])
  const [, page] = await daemon.printed(/"url":"(http:[^"]+)"/)
  const view = async () => {
    const status = await (await fetch(`${page}api/v1/status`)).text()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own process answers
    return (JSON.parse(status) as { targets: TargetView[] }).targets[0]!
  }
  const finished = (calls: number) =>
    vi.waitFor(async () => {
      const { ended = 0, unanswered = 0, rejected = 0, canceled = 0 } = (await view()).finished
      expect(ended + unanswered + rejected + canceled).toBeGreaterThanOrEqual(calls)
    }, WAIT)
  const settle = async () => {
    simulator.setSwitches({ arrivals: false })
    const open = () => [...simulator.callTruth().values()].filter(({ final }) => !final).length
    await vi.waitFor(() => expect(open()).toBe(0), WAIT)
    const all = { in_progress: 0, tracked_calls: simulator.callTruth().size }
    await vi.waitFor(async () => expect(await view()).toMatchObject(all), WAIT)
    daemon.child.kill('SIGTERM')
    await daemon.ended
  }
  return { simulator, config, store, daemon, page: page!, finished, settle }
}

/** A configuration for the target `production`, with quick looks; its path. */
export function configFor(url: string, store: string, { sweepInterval = '1h', apiKey = KEY } = {}): string {
  return configFile(`
targets: [{ name: production, base_url: '${url}', api_key: ${apiKey} }]
poll: { interval: 300ms, page_size: 100, sweep_interval: ${sweepInterval}, max_requests_per_minute: 6000, retries: 1 }
store: { path: '${store}' }
http: { host: 127.0.0.1, port: 0 }
`)
}

/** The calls that the store remembers as counted, by id. */
export function countedCalls(store: string): TrackedCall[] {
  return withStore(store, (db) =>
    db.prepare('SELECT id, data FROM calls WHERE finished IS NOT NULL ORDER BY id').all().map(callOf),
  )
}

/** Puts another row in the place of a call's, as a bad disk or a curious person would. */
export function tamper(store: string, call: TrackedCall): void {
  withStore(store, (db) => db.prepare('UPDATE calls SET data = ? WHERE id = ?').run(packCall(call), call.id))
}

export function withStore<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { timeout: 5000 })
  try {
    return work(db)
  } finally {
    db.close()
  }
}
