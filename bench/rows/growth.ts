import { median, type Bench, type Scenario } from '../scenario.ts'
import { meanCpu, steadyPolls } from '../steady-polls.ts'

/** The costs of a poll must not depend on how many calls are tracked: the same changes on a short and a long list. */
export const growth: Scenario = {
  name: 'growth',
  rows: ['growth'],
  run: async (bench) => {
    const { few, tracked } = bench.sizes
    const short = await steadyPolls(bench, { name: 'growth-few', calls: few, poll: { sweep_interval: '1d' } })
    const long = await steadyPolls(bench, { name: 'growth-many', calls: tracked, poll: { sweep_interval: '1d' } })
    await short.poll(bench.sizes.warmUp)
    await long.poll(bench.sizes.warmUp)
    const cpu: { short: number; long: number }[] = []
    for (let round = 0; round < bench.sizes.rounds; round++) {
      cpu.push({ short: await cpuOf(short, bench), long: await cpuOf(long, bench) })
    }
    const [atFew, atMany] = [median(cpu.map(({ short }) => short)), median(cpu.map(({ long }) => long))]
    const milliseconds = (seconds: number) => `${(seconds * 1000).toFixed(1)} ms`
    const note = `${milliseconds(atMany)} a poll at ${tracked} tracked calls, ${milliseconds(atFew)} at ${few}`
    return [{ row: 'growth', measured: atMany / atFew, target: 1.3, unit: '×', note }]
  },
}

async function cpuOf({ poll }: Awaited<ReturnType<typeof steadyPolls>>, { sizes }: Bench): Promise<number> {
  return meanCpu((await poll(Math.ceil(sizes.polls / sizes.rounds / 2))).callwatch)
}
