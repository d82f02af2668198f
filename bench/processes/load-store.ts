import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/clock/clock.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openTarget } from '../../src/pipeline/target.ts'
import { answer } from './answer.ts'
import { measure, type Measured } from './measure.ts'
import { withoutPort } from './open-target.ts'

/** What a process that has loaded a store is like: `rss` in bytes, once garbage is collected (with `--expose-gc` only). */
export type Loaded = Measured & { calls: number; rss: number }

/** Opens a store and loads its target, as a restarted daemon does before its first poll. */
const loaded: unknown[] = []

answer(async ({ file }: { file: string }): Promise<Loaded> => {
  const { alerts: rules, poll, store: at, targets } = loadConfig({ file, env: {}, cwd: import.meta.dirname })
  const { measured, result } = await measure(async () => {
    const store = await openStore(at, [])
    const settings = { target: targets[0]!, poll, rules }
    return {
      store,
      target: await openTarget({ settings: withoutPort(settings), store, clock: systemClock }),
    }
  })
  // Whatever a store left for later would be loaded now; and what was loaded must not be garbage.
  let calls = 0
  for (const { id } of result.target.ledger.calls.values()) if (id !== '') calls += 1
  loaded.push(result)
  return { ...measured, calls, rss: await restingMemory() }
})

/** The resident memory once nothing more can be freed: the least of some readings. */
async function restingMemory(): Promise<number> {
  let rss = process.memoryUsage.rss()
  for (let i = 0; i < 10 && globalThis.gc !== undefined; i++) {
    globalThis.gc()
    await sleep(100)
    rss = Math.min(rss, process.memoryUsage.rss())
  }
  return rss
}
