import { writeConfigFile } from '../config-file.ts'
import type { Worked } from '../processes/daemon.ts'
import { median, percentile, type Scenario } from '../scenario.ts'
import { manyWorld } from '../worlds.ts'

const INTERVAL = 15

/** A daemon with many targets, by the clock on the wall: how busy it keeps a core, and how soon it knows. */
export const manyTargets: Scenario = {
  name: 'many-targets',
  rows: ['many targets', 'many targets (lag)'],
  run: async (bench) => {
    const { targets, seconds } = bench.sizes
    const service = await bench.start('service', { world: manyWorld(Date.now() / 1000) })
    const { origin } = new URL((await service.ask<{ url: string }>({})).url)
    // All apps are the same, but each has an address of its own.
    const urls = Array.from({ length: targets }, (_, i) => `${origin}/app-${i}/v3`)
    const daemon = await bench.start('daemon', { file: writeConfigFile(bench, { name: 'many-targets', urls }) })
    await daemon.ask({ until: 2 })
    const { cpu, wall, lags, polls, skipped, requests } = await daemon.ask<Worked>({ seconds })
    const due = Math.round((targets * wall) / INTERVAL)
    if (lags.length === 0) throw new Error(`in ${wall} s no call finished, in ${polls} polls`)
    return [
      {
        row: 'many targets',
        measured: (100 * cpu) / wall,
        target: 35,
        unit: '% of a core',
        note: `${polls} of ${due} polls in ${wall.toFixed(0)} s, ${skipped} left out; ${(requests / polls).toFixed(1)} requests a poll`,
      },
      {
        row: 'many targets (lag)',
        measured: percentile(lags, 0.99),
        target: INTERVAL + 2,
        unit: 's',
        note: `p99 of ${lags.length} calls that finished; median ${median(lags).toFixed(1)} s`,
      },
    ]
  },
}
