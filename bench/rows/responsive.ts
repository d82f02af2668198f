import { join } from 'node:path'
import { writeConfigFile } from '../config-file.ts'
import type { Watched } from '../processes/daemon.ts'
import { median, percentile, times, type Scenario } from '../scenario.ts'
import { stillWorld } from '../worlds.ts'

/** On a disk that is slow now and then. */
const SLOW_COMMITS = ['--import', join(import.meta.dirname, '../processes/slow-commits.ts')]

/** A daemon that reads a long list for the first time still answers, Prometheus above all. */
export const responsive: Scenario = {
  name: 'responsive',
  rows: ['responsive', 'responsive (/metrics)'],
  run: async (bench) => {
    const { calls } = bench.sizes
    const now = Math.floor(Date.now() / 1000)
    const service = await bench.start('service', { world: stillWorld(calls, now), now })
    const { url } = await service.ask<{ url: string }>({ prepare: true })
    const scraper = await bench.start('scraper', {})
    const rounds = await times(bench.sizes.rounds, async (round) => {
      const file = writeConfigFile(bench, { name: `responsive-${round}`, urls: [url] })
      const daemon = await bench.start('daemon', { file }, SLOW_COMMITS)
      const { url: page } = await daemon.ask<{ url: string }>({})
      await scraper.ask({ url: `${page}metrics` })
      const worked = await daemon.ask<Watched>({ until: 1, watched: true })
      const { seconds } = await scraper.ask<{ seconds: number[] }>({})
      await daemon.end()
      if (worked.calls !== calls) throw new Error(`the daemon saw ${worked.calls} of ${calls} calls`)
      return { turn: worked.longestTurn * 1000, wall: worked.wall, scrapes: seconds.map((each) => each * 1000) }
    })
    const turns = rounds.map(({ turn }) => turn)
    const scrapes = rounds.flatMap(({ scrapes }) => scrapes)
    const wall = median(rounds.map(({ wall }) => wall)).toFixed(1)
    return [
      {
        row: 'responsive',
        measured: median(turns),
        target: 30,
        unit: 'ms',
        note: `the longest turns of ${turns.length} first polls: ${turns.map((turn) => turn.toFixed(0)).join(', ')} ms, with commits that take 500 ms now and then; one poll took ${wall} s`,
      },
      {
        row: 'responsive (/metrics)',
        measured: percentile(scrapes, 0.99),
        target: 50,
        unit: 'ms',
        note: `p99 of ${scrapes.length} scrapes, 20 a second; median ${median(scrapes).toFixed(0)} ms`,
      },
    ]
  },
}
