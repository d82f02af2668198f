import type { Child } from './child.ts'
import { writeConfigFile } from './config-file.ts'
import { makeStore } from './prepared-store.ts'
import type { PollAnswer } from './processes/callwatch.ts'
import type { Measured } from './processes/measure.ts'
import type { Bench } from './scenario.ts'
import { steadyWorld } from './worlds.ts'

/** Seconds between two polls, and from the poll that made the store to the first of them. */
const INTERVAL = 15

export type SteadyPolls = {
  service: Child
  url: string
  /** Runs so many polls, each followed by the same requests from the floor. */
  poll: (polls: number) => Promise<{ callwatch: PollAnswer[]; floor: Measured[] }>
}

/**
 * callwatch on a long list, most of which it tracks: between two polls the service's clock advances 15 s, some 20 calls
 * begin and as many end.
 *
 * @param options.speed of callwatch's clock; 1 where nothing waits
 * @param options.poll over the shipped settings
 */
export async function steadyPolls(
  bench: Bench,
  options: { name: string; calls: number; poll: Record<string, unknown>; speed?: number },
): Promise<SteadyPolls> {
  const { name, calls, poll, speed = 1 } = options
  const storePath = await makeStore(bench, calls, name)
  const service = await bench.start('service', { world: steadyWorld(calls, bench.now), now: bench.now })
  const { url } = await service.ask<{ url: string }>({})
  const file = writeConfigFile(bench, { name, urls: [url], storePath, poll })
  let now = bench.now + INTERVAL
  const callwatch = await bench.start('callwatch', { file, now, speed })
  const floor = await bench.start('floor', { url })
  return {
    service,
    url,
    poll: async (polls) => {
      const answers: { callwatch: PollAnswer[]; floor: Measured[] } = { callwatch: [], floor: [] }
      for (let i = 0; i < polls; i++) {
        await service.ask({ now })
        const answer = await callwatch.ask<PollAnswer>({ now })
        answers.callwatch.push(answer)
        // A tick that falls into a running cycle is left out.
        now += INTERVAL * Math.max(1, Math.ceil(answer.seconds / INTERVAL))
        answers.floor.push(await floor.ask<Measured>({ paths: answer.paths }))
      }
      return answers
    },
  }
}

/** Seconds of processor a poll. */
export function meanCpu(answers: readonly Measured[]): number {
  return answers.reduce((sum, { cpu }) => sum + cpu, 0) / answers.length
}

/** Requests a poll. */
export function meanRequests(answers: readonly PollAnswer[]): number {
  return answers.reduce((sum, { paths }) => sum + paths.length, 0) / answers.length
}
