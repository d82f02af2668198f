import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from './child.ts'
import { writeConfigFile } from './config-file.ts'
import { makeStore } from './prepared-store.ts'
import type { PollAnswer } from './processes/callwatch.ts'
import type { Measured } from './processes/measure.ts'
import { callAt, newestCall, type World } from './processes/world.ts'
import type { Bench } from './scenario.ts'
import { steadyWorld } from './worlds.ts'

/** Calls a page; no call is open for so long that it is further down than so many pages. */
const PER_PAGE = 100
const DEEP = 30

/** Seconds between two polls, and from the poll that made the store to the first of them. */
const INTERVAL = 15

export type Polled = {
  callwatch: PollAnswer[]
  floor: Measured[]
  /** The last page on which two calls were open, on average. */
  deepestPage: number
}

export type SteadyPolls = {
  service: Child
  url: string
  /** Runs so many polls, each followed by the same requests from the floor, with a pause before each (seconds). */
  poll: (polls: number, pause?: number) => Promise<Polled>
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
  const world = steadyWorld(calls, bench.now)
  const service = await bench.start('service', { world, now: bench.now })
  const { url } = await service.ask<{ url: string }>({})
  const file = writeConfigFile(bench, { name, urls: [url], storePath, poll })
  let now = bench.now + INTERVAL
  const callwatch = await bench.start('callwatch', { file, now, speed })
  const floor = await bench.start('floor', { url })
  return {
    service,
    url,
    poll: async (polls, pause = 0) => {
      const answers: Polled = { callwatch: [], floor: [], deepestPage: 0 }
      for (let i = 0; i < polls; i++) {
        await service.ask({ now })
        answers.deepestPage += deepestPage(world, now) / polls
        await sleep(pause * 1000)
        const answer = await callwatch.ask<PollAnswer>({ now })
        answers.callwatch.push(answer)
        // A tick that falls into a running cycle is left out.
        now += INTERVAL * Math.max(1, Math.ceil(answer.seconds / INTERVAL))
        await sleep(pause * 1000)
        answers.floor.push(await floor.ask<Measured>({ paths: answer.paths }))
      }
      return answers
    },
  }
}

/** The last page of the list on which two calls are open. */
function deepestPage(world: World, now: number): number {
  const newest = newestCall(world, now)
  const pages = Array.from({ length: DEEP }, (_, page) =>
    Array.from({ length: PER_PAGE }, (_, i) => callAt(world, newest - page * PER_PAGE - i, now)),
  )
  return 1 + pages.findLastIndex((calls) => calls.filter((call) => !('endedAt' in call)).length >= 2)
}

/** Seconds of processor a poll. */
export function meanCpu(answers: readonly Measured[]): number {
  return answers.reduce((sum, { cpu }) => sum + cpu, 0) / answers.length
}

/** Requests a poll. */
export function meanRequests(answers: readonly PollAnswer[]): number {
  return answers.reduce((sum, { paths }) => sum + paths.length, 0) / answers.length
}
