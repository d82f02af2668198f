import type { PollAnswer } from '../processes/callwatch.ts'
import type { Scenario } from '../scenario.ts'
import { meanRequests, steadyPolls } from '../steady-polls.ts'

const INTERVAL = 15
/** Virtual seconds in a real one, as the rate limit spreads a sweep over minutes. callwatch appears that much slower. */
const SPEED = 5
/** The first polls have to make up for the pause before them. */
const CATCHING_UP = 10

/** One complete sweep beside the ordinary polls, with the rate limit and the intervals as they are shipped. */
export const sweep: Scenario = {
  name: 'sweep',
  rows: ['sweep requests', 'sweep requests (delay)'],
  run: async (bench) => {
    const { calls } = bench.sizes
    const poll = { max_requests_per_minute: 400 }
    const polls = await steadyPolls(bench, { name: 'sweep', calls, poll, speed: SPEED })
    const answers: PollAnswer[] = []
    while (answers.at(-1)?.outcome !== 'complete') {
      answers.push(...(await polls.poll(1)).callwatch)
      if (answers.length > 200) throw new Error('no sweep ended within 200 polls')
    }
    const begin = answers.findIndex(({ sweeping }) => sweeping)
    const ordinary = meanRequests(answers.slice(CATCHING_UP, begin))
    const swept = answers.slice(begin)
    const requests = swept.reduce((sum, { paths }) => sum + paths.length, 0)
    const slowest = Math.max(...swept.map(({ seconds }) => seconds))
    return [
      {
        row: 'sweep requests',
        measured: (requests - swept.length * ordinary) / Math.ceil(calls / 100),
        target: 1.05,
        unit: '× pages',
        note: `${requests} requests in ${swept.length} polls, which take ${ordinary.toFixed(1)} each without a sweep`,
      },
      {
        row: 'sweep requests (delay)',
        measured: slowest / INTERVAL,
        target: 1,
        unit: '× interval',
        note: `the longest cycle of the sweep took ${slowest.toFixed(1)} s`,
      },
    ]
  },
}
