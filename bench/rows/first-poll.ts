import { join } from 'node:path'
import { writeConfigFile } from '../config-file.ts'
import type { PollAnswer } from '../processes/callwatch.ts'
import type { Measured } from '../processes/measure.ts'
import { median, times, type Bench, type Scenario } from '../scenario.ts'
import { allPages, stillWorld } from '../worlds.ts'

/**
 * The initial sync of a long list of finished calls, and then a sweep of the same calls again. Each round is a new
 * process with a new store; the floor reads the list twice as well, once cold and once warm.
 */
export const firstPoll: Scenario = {
  name: 'first-poll',
  rows: ['first-poll wall', 'first-poll cpu', 'full-sweep cpu'],
  run: async (bench) => {
    const { calls, rounds } = bench.sizes
    const world = stillWorld(calls, bench.now)
    const service = await bench.start('service', { world, now: bench.now })
    const { url } = await service.ask<{ url: string }>({ prepare: true })
    const measured = await times(rounds, async (round) => ({
      floor: await readTwice(bench, url),
      limit: await writeOnce(bench, url, round),
      callwatch: await lookTwice(bench, url, round),
    }))
    const of = (pick: (round: (typeof measured)[number]) => number) => median(measured.map(pick))
    const compared = (what: 'wall' | 'cpu') => {
      const [first, limit] = [of(({ callwatch }) => callwatch.first[what]), of(({ limit }) => limit[what])]
      const floor = of(({ floor }) => floor.first[what])
      const note = `${(first / floor).toFixed(2)} × floor; callwatch ${first.toFixed(2)} s, limit ${limit.toFixed(2)} s, floor ${floor.toFixed(2)} s`
      return { row: `first-poll ${what}`, measured: first / limit, target: 1.35, unit: '× limit', note }
    }
    return [
      compared('wall'),
      compared('cpu'),
      {
        row: 'full-sweep cpu',
        measured: of(({ callwatch }) => callwatch.again.cpu) / of(({ floor }) => floor.again.cpu),
        target: 1.25,
        unit: '× floor',
      },
    ]
  },
}

async function readTwice({ start, sizes }: Bench, url: string): Promise<{ first: Measured; again: Measured }> {
  const floor = await start('floor', { url })
  const paths = allPages(sizes.calls)
  const first = await floor.ask<Measured>({ paths })
  const again = await floor.ask<Measured>({ paths })
  await floor.end()
  return { first, again }
}

async function writeOnce({ start, sizes, folder }: Bench, url: string, round: number): Promise<Measured> {
  const limit = await start('limit', { path: join(folder, `limit-${round}.db`) })
  const measured = await limit.ask<Measured>({ url, paths: allPages(sizes.calls) })
  await limit.end()
  return measured
}

async function lookTwice(bench: Bench, url: string, round: number): Promise<{ first: Measured; again: Measured }> {
  const { calls } = bench.sizes
  const file = writeConfigFile(bench, { name: `first-poll-${round}`, urls: [url] })
  const callwatch = await bench.start('callwatch', { file, now: bench.now })
  const first = await callwatch.ask<PollAnswer>({ whole: true })
  const again = await callwatch.ask<PollAnswer>({ whole: true, now: bench.now + 900 })
  await callwatch.end()
  if (first.calls !== calls || again.calls !== calls) {
    throw new Error(`callwatch saw ${first.calls} of ${calls} calls, and then ${again.calls}`)
  }
  return { first, again }
}
