import { writeConfigFile } from '../config-file.ts'
import type { LookAnswer } from '../processes/callwatch.ts'
import type { Measured } from '../processes/measure.ts'
import { median, times, type Scenario } from '../scenario.ts'
import { allPages, endingWorld } from '../worlds.ts'

/** Every remembered call was in progress and has ended since: read, counted and committed anew, against the floor. */
export const busyPoll: Scenario = {
  name: 'busy-poll',
  rows: ['busy-poll cpu'],
  run: async (bench) => {
    const { busy } = bench.sizes
    const service = await bench.start('service', { world: endingWorld(busy, bench.now), now: bench.now })
    const paths = allPages(busy)
    const measured = await times(bench.sizes.rounds + 2, async (round) => {
      const { url } = await service.ask<{ url: string }>({ now: bench.now, prepare: true })
      const file = writeConfigFile(bench, { name: `busy-poll-${round}`, urls: [url] })
      const [floor, callwatch] = [
        await bench.start('floor', { url }),
        await bench.start('callwatch', { file, now: bench.now }),
      ]
      // Once for nothing, so that both have compiled their code.
      await floor.ask({ paths })
      const before = await callwatch.ask<LookAnswer>({ whole: true })
      await service.ask({ now: bench.now + 15, prepare: true })
      const read = await floor.ask<Measured>({ paths })
      const after = await callwatch.ask<LookAnswer>({ whole: true, now: bench.now + 15 })
      await floor.end()
      await callwatch.end()
      if (before.open !== busy || after.open !== 0) {
        throw new Error(`of ${busy} calls callwatch saw ${before.open} in progress, and then ${after.open}`)
      }
      return { floor: read.cpu, callwatch: after.cpu }
    })
    const floor = median(measured.map(({ floor }) => floor))
    const callwatch = median(measured.map(({ callwatch }) => callwatch))
    const note = `floor ${(floor * 1000).toFixed(0)} ms, callwatch ${(callwatch * 1000).toFixed(0)} ms`
    return [{ row: 'busy-poll cpu', measured: callwatch / floor, target: 1.9, unit: '× floor', note }]
  },
}
