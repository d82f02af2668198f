import { join } from 'node:path'
import type { Child } from '../child.ts'
import type { PollAnswer } from '../processes/callwatch.ts'
import type { Measured } from '../processes/measure.ts'
import { FULL } from '../sizes.ts'
import { median, times, type Bench, type Scenario } from '../scenario.ts'
import { meanCpu, meanRequests, steadyPolls } from '../steady-polls.ts'

/** Ordinary polls of a long list: what they ask for, and their processor time beside the floor's and the script's. */
export const steady: Scenario = {
  name: 'steady',
  rows: ['steady requests', 'steady cpu', 'steady cpu (script)'],
  run: async (bench) => {
    const { calls, warmUp, rested, pause } = bench.sizes
    // No sweep falls into the measured time: those have a row of their own.
    const { service, url, poll } = await steadyPolls(bench, { name: 'steady', calls, poll: { sweep_interval: '1d' } })
    await poll(warmUp)
    // At the daemon's own pace: a loop that never rests keeps the processor's caches warm, for the floor above all.
    const { callwatch, floor, deepestPage } = await poll(rested, pause)
    const cpu = meanCpu(callwatch)
    const script = await scriptCpu(bench, service, url)
    const unit = 'a poll'
    const milliseconds = (seconds: number) => `${(seconds * 1000).toFixed(1)} ms`
    return [
      {
        row: 'steady requests',
        measured: meanRequests(callwatch),
        target: deepestPage + 2,
        unit,
        note: requestsOf(callwatch),
      },
      {
        row: 'steady cpu',
        measured: cpu / meanCpu(floor),
        target: 2.5,
        unit: '× floor',
        note: `callwatch ${milliseconds(cpu)} a poll, floor ${milliseconds(meanCpu(floor))}`,
      },
      {
        row: 'steady cpu (script)',
        measured: cpu / script,
        // The script's work grows with the list, callwatch's does not: a shorter one asks for less.
        target: 0.02 * (FULL.calls / calls),
        unit: '× script',
        note: `script ${milliseconds(script)} a poll`,
      },
    ]
  },
}

/** The script reads everything each time: a few polls show what one takes (seconds). */
async function scriptCpu(bench: Bench, service: Child, url: string): Promise<number> {
  const script = await bench.start('script', { url, metricsFile: join(bench.folder, 'script.prom') })
  const { now } = await service.ask<{ now: number }>({})
  const [, ...warm] = await times(4, async (round) => {
    await service.ask({ now: now + 15 * (round + 1) })
    return script.ask<Measured & { pages: number }>({ now: now + 15 * (round + 1) })
  })
  return median(warm.map(({ cpu }) => cpu))
}

function requestsOf(answers: readonly PollAnswer[]): string {
  const requested = answers.flatMap(({ paths }) => paths)
  const one = requested.filter((path) => !path.startsWith('/calls?')).length
  const open = answers.reduce((sum, answer) => sum + answer.open, 0) / answers.length
  const [pages, calls] = [requested.length - one, one].map((count) => (count / answers.length).toFixed(1))
  return `${pages} pages and ${calls} single calls; ${open.toFixed(0)} open`
}
