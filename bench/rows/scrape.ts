import { writeConfigFile } from '../config-file.ts'
import { countSamples } from '../exposition-text.ts'
import type { Exposed } from '../processes/exposition.ts'
import { median, times, type Scenario } from '../scenario.ts'
import { manyWorld } from '../worlds.ts'

const INTERVAL = 15
const WARM_UP = 3
const SCRAPES = 5

/** /metrics of many targets that have all been polled since the last scrape, against prom-client's own work. */
export const scrape: Scenario = {
  name: 'scrape',
  rows: ['scrape'],
  run: async (bench) => {
    const { now } = bench
    const service = await bench.start('service', { world: manyWorld(now), now })
    const { origin } = new URL((await service.ask<{ url: string }>({})).url)
    const urls = Array.from({ length: bench.sizes.scraped }, (_, i) => `${origin}/app-${i}/v3`)
    const file = writeConfigFile(bench, { name: 'scrape', urls })
    const callwatch = await bench.start('exposition', { file, now })
    const plain = await bench.start('plain-registry', {})
    let last: Exposed | undefined
    const rounds = await times(WARM_UP + SCRAPES, async (round) => {
      const later = now + (round + 1) * INTERVAL
      await service.ask({ now: later })
      const exposed = await callwatch.ask<Exposed>({ now: later })
      const bare = await plain.ask<Exposed>(last === undefined ? { body: exposed.body } : {})
      last ??= exposed
      return { exposed, bare }
    })
    const measured = rounds.slice(WARM_UP)
    const [ours, theirs] = [countSamples(last!.body), countSamples(rounds[0]!.bare.body)]
    if (ours !== theirs) throw new Error(`callwatch shows ${ours} series, the registry to compare it with ${theirs}`)
    const seconds = median(measured.map(({ exposed }) => exposed.cpu))
    const bare = median(measured.map(({ bare }) => bare.cpu))
    const milliseconds = (figure: number) => `${(figure * 1000).toFixed(0)} ms`
    const note = `${milliseconds(seconds)} for ${ours} series, prom-client ${milliseconds(bare)}`
    return [{ row: 'scrape', measured: seconds / bare, target: 1.5, unit: '× prom-client', note }]
  },
}
