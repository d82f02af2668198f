import { setTimeout as sleep } from 'node:timers/promises'
import { buildProgram, startProgram, type Program } from '../built-program.ts'
import { writeConfigFile } from '../config-file.ts'
import { median, times, type Bench, type Scenario } from '../scenario.ts'
import { stillWorld } from '../worlds.ts'

/** What the built program takes that has an empty store and nothing to do, and how soon it answers. */
export const idle: Scenario = {
  name: 'idle',
  rows: ['idle', 'idle (first answer)'],
  run: async (bench) => {
    const programs = await startedPrograms(bench, { name: 'idle', calls: 0 })
    const { rss } = await restingUsage(bench, programs)
    const first = programs.map(({ firstAnswer }) => firstAnswer)
    const note = `RSS ${bench.sizes.rest} s after the start`
    return [
      { row: 'idle', measured: rss / 1e6, target: 110, unit: 'MB', note },
      {
        row: 'idle (first answer)',
        measured: median(first),
        target: 0.6,
        unit: 's',
        note: `${first.map((seconds) => seconds.toFixed(2)).join(', ')} s from the start of the process`,
      },
    ]
  },
}

/** What it takes after a long first poll, when it has had time to return memory. */
export const settled: Scenario = {
  name: 'settled',
  rows: ['settled'],
  run: async (bench) => {
    const { settledCalls: calls, rest } = bench.sizes
    const programs = await startedPrograms(bench, { name: 'settled', calls })
    const { rss, cpu } = await restingUsage(bench, programs)
    const note = `RSS ${rest} s after the first poll of ${calls} calls; ${cpu.toFixed(1)} s of processor`
    return [{ row: 'settled', measured: rss / 1e6, target: 250, unit: 'MB', note }]
  },
}

/** Starts the program several times, each after the other's first poll. */
async function startedPrograms(bench: Bench, { name, calls }: { name: string; calls: number }): Promise<Program[]> {
  const world = calls === 0 ? { calls, epoch: bench.now, pace: 1, olderPace: 1 } : stillWorld(calls, bench.now)
  const service = await bench.start('service', { world, now: bench.now })
  const { url } = await service.ask<{ url: string }>({ prepare: true })
  const main = buildProgram(bench)
  // The first one compiles for the others, and its figures do not count.
  const programs = await times(bench.sizes.rounds + 1, async (round) => {
    const program = await startProgram(main, writeConfigFile(bench, { name: `${name}-${round}`, urls: [url] }))
    await program.ready()
    if (round === 0) await program.end()
    return program
  })
  return programs.slice(1)
}

/** The medians of what they take after they have rested, all at the same time; ends them. */
async function restingUsage({ sizes }: Bench, programs: readonly Program[]): Promise<{ rss: number; cpu: number }> {
  await sleep(sizes.rest * 1000)
  const usages = []
  for (const { usage, end } of programs) {
    usages.push(await usage())
    await end()
  }
  return { rss: median(usages.map(({ rss }) => rss)), cpu: median(usages.map(({ cpu }) => cpu)) }
}
