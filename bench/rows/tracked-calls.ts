import { writeConfigFile } from '../config-file.ts'
import { preparedStore } from '../prepared-store.ts'
import type { Loaded } from '../processes/load-store.ts'
import type { Measured } from '../processes/measure.ts'
import { median, times, type Scenario } from '../scenario.ts'

/** No service has this address; nothing is asked of it. */
const NOWHERE = 'http://127.0.0.1:1/v3'

/** What tracked calls weigh in memory, above the same process with an empty store. */
export const memory: Scenario = {
  name: 'memory',
  rows: ['memory'],
  run: async (bench) => {
    const { tracked } = bench.sizes
    const storePath = await preparedStore(bench, tracked)
    const process = await bench.start('load-store', {}, ['--expose-gc'])
    const idle = await process.ask<Loaded>({ file: writeConfigFile(bench, { name: 'empty', urls: [NOWHERE] }) })
    const full = await process.ask<Loaded>({
      file: writeConfigFile(bench, { name: 'full', urls: [NOWHERE], storePath }),
    })
    await process.end()
    if (full.calls !== tracked) throw new Error(`the store gave ${full.calls} of ${tracked} calls`)
    const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
    const note = `${megabytes(full.rss)} with ${tracked} calls, ${megabytes(idle.rss)} idle`
    return [{ row: 'memory', measured: (full.rss - idle.rss) / tracked, target: 400, unit: 'bytes a call', note }]
  },
}

/** How long it takes to load them, beside a process that reads the same rows and drops them. */
export const restart: Scenario = {
  name: 'restart',
  rows: ['restart'],
  run: async (bench) => {
    const path = await preparedStore(bench, bench.sizes.tracked)
    const file = writeConfigFile(bench, { name: 'restart', urls: [NOWHERE], storePath: path })
    // The first round warms the operating system's cache for all.
    const [, ...rounds] = await times(bench.sizes.rounds + 1, async () => {
      const [bare, callwatch] = [await bench.start('bare-read', {}), await bench.start('load-store', {})]
      const read = await bare.ask<Measured & { rows: number }>({ path })
      const loaded = await callwatch.ask<Loaded>({ file })
      if (read.rows !== loaded.calls) throw new Error(`${loaded.calls} calls were loaded from ${read.rows} rows`)
      await bare.end()
      await callwatch.end()
      return { read: read.wall, loaded: loaded.wall }
    })
    const [read, loaded] = [median(rounds.map(({ read }) => read)), median(rounds.map(({ loaded }) => loaded))]
    const note = `${loaded.toFixed(2)} s, bare ${read.toFixed(2)} s`
    return [{ row: 'restart', measured: loaded / read, target: 2, unit: '× bare', note }]
  },
}
