import { join } from 'node:path'
import { writeConfigFile } from '../config-file.ts'
import type { PollAnswer } from '../processes/callwatch.ts'
import type { Measured } from '../processes/measure.ts'
import { median, times, type Scenario } from '../scenario.ts'
import { allPages, endingWorld } from '../worlds.ts'

/** Targets before those that count. */
const WARM_UP = 3

const WITHOUT_EVENTS = ['--import', join(import.meta.dirname, '../processes/without-events.ts')]

/**
 * Every tracked call was in progress and has ended since: read, counted and committed again, against the limit, and against
 * the same without the log of events.
 */
export const busyPoll: Scenario = {
  name: 'busy-poll',
  rows: ['busy-poll cpu', 'events cost'],
  run: async (bench) => {
    const { busy } = bench.sizes
    const paths = allPages(busy)
    // One target after the other, each with a service of its own, so that both programs are compiled when it counts.
    const targets = await times(WARM_UP + bench.sizes.rounds, async (round) => {
      const now = bench.now + 60 * round
      const service = await bench.start('service', { world: endingWorld(busy, now), now })
      const { url } = await service.ask<{ url: string }>({ prepare: true })
      return { now, service, url }
    })
    const file = writeConfigFile(bench, { name: 'busy-poll', urls: targets.map(({ url }) => url) })
    const quiet = writeConfigFile(bench, { name: 'without-events', urls: targets.map(({ url }) => url) })
    const callwatch = await bench.start('callwatch', { file, now: bench.now })
    const eventless = await bench.start('callwatch', { file: quiet, now: bench.now }, WITHOUT_EVENTS)
    const limit = await bench.start('limit', { path: join(bench.folder, 'limit.db') })
    const polls = await times(targets.length, async (target) => {
      const { now, service, url } = targets[target]!
      const both = [callwatch, eventless]
      await limit.ask({ url, paths })
      const before = []
      for (const each of both) before.push(await each.ask<PollAnswer>({ target, whole: true, now }))
      await service.ask({ now: now + 15, prepare: true })
      const written = await limit.ask<Measured>({ url, paths })
      const after = []
      for (const each of both) after.push(await each.ask<PollAnswer>({ target, whole: true, now: now + 15 }))
      for (const [i, { open }] of before.entries()) {
        if (open === busy && after[i]!.open === 0) continue
        throw new Error(`of ${busy} calls callwatch saw ${open} in progress, and then ${after[i]!.open}`)
      }
      return { limit: written.cpu, callwatch: after[0]!.cpu, eventless: after[1]!.cpu }
    })
    const measured = polls.slice(WARM_UP)
    const limitCpu = median(measured.map(({ limit }) => limit))
    const cpu = median(measured.map(({ callwatch }) => callwatch))
    const eventlessCpu = median(measured.map(({ eventless }) => eventless))
    const milliseconds = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`
    return [
      {
        row: 'busy-poll cpu',
        measured: cpu / limitCpu,
        target: 1.6,
        unit: '× limit',
        note: `limit ${milliseconds(limitCpu)}, callwatch ${milliseconds(cpu)}`,
      },
      {
        row: 'events cost',
        measured: cpu / eventlessCpu,
        target: 1.15,
        unit: '× without',
        note: `the same poll, whose ${busy} changes are ${busy} events: ${milliseconds(eventlessCpu)} without them`,
      },
    ]
  },
}
