import { writeConfigFile } from '../config-file.ts'
import type { Worked } from '../processes/daemon.ts'
import type { World } from '../processes/world.ts'
import { median, percentile, type Bench, type Row, type Scenario } from '../scenario.ts'

const HOUR = 3600
const USER = { username: 'vendor', password: 'of-the-bench' }
const HINTED = { interval: '60s', page_size: 1000 }
/** A call begins every second, or with many targets every 20 s at each. */
const BUSY_PACE = 1
const CALM_PACE = 20

/** One busy target that is polled once a minute, with webhooks. */
export const hints: Scenario = {
  name: 'hints',
  rows: ['hints', 'hints (median)', 'hints (requests)'],
  run: async (bench) => {
    const seconds = 2 * bench.sizes.seconds
    const world = { calls: 3600, epoch: bench.now - HOUR, pace: BUSY_PACE, olderPace: BUSY_PACE }
    const { lags, perMinute, note } = await polled(bench, { name: 'hints', world, targets: 1, poll: HINTED, seconds })
    return [
      ...lagRows('hints', lags),
      { row: 'hints (requests)', measured: perMinute, target: 45, unit: 'a minute', note },
    ]
  },
}

/** Many targets that are polled once a minute, with webhooks; and every 15 s, without. */
export const manyHints: Scenario = {
  name: 'many-hints',
  rows: ['many hints', 'many hints (median)', 'many hints (requests)'],
  run: async (bench) => {
    const { targets, seconds } = bench.sizes
    const apart = CALM_PACE / targets
    const world = { calls: 500, epoch: bench.now - HOUR, pace: CALM_PACE, olderPace: CALM_PACE, apart }
    const with_ = await polled(bench, { name: 'many-hints', world, targets, poll: HINTED, seconds: 2 * seconds })
    const without = await polled(bench, { name: 'no-hints', world, targets, poll: {}, seconds })
    return [
      ...lagRows('many hints', with_.lags),
      {
        row: 'many hints (requests)',
        measured: with_.perMinute / targets,
        target: without.perMinute / targets,
        unit: 'a minute',
        note: `of each target, at most as without webhooks; ${with_.note}; without webhooks the median lag is ${median(without.lags).toFixed(1)} s`,
      },
    ]
  },
}

function lagRows(name: string, lags: readonly number[]): Row[] {
  return [
    { row: name, measured: percentile(lags, 0.99), target: 4, unit: 's', note: `p99 of ${lags.length} ends` },
    { row: `${name} (median)`, measured: median(lags), target: 1.2, unit: 's' },
  ]
}

type Polled = { name: string; world: World; targets: number; poll: Record<string, unknown>; seconds: number }

/** Polls, with the webhooks of the service if polls are rare. */
async function polled(bench: Bench, { name, world, targets, poll, seconds }: Polled) {
  const service = await bench.start('service', { world })
  const { origin } = new URL((await service.ask<{ url: string }>({})).url)
  const urls = Array.from({ length: targets }, (_, i) => `${origin}/app-${i}/v3`)
  const isHinted = 'interval' in poll
  const file = writeConfigFile(bench, { name, urls, poll, ...(isHinted && { webhook: USER }) })
  const daemon = await bench.start('daemon', { file })
  await daemon.ask({ until: 1 })
  const { url } = await daemon.ask<{ url: string }>({})
  const authorization = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}`
  const vendor = isHinted ? await bench.start('vendor', { world, targets, url, authorization }) : undefined
  // Ends of which no webhook came are found by the next polls.
  await daemon.ask<Worked>({ seconds: 60 })
  const { lags, cpu, wall, requests, polls, hinted } = await daemon.ask<Worked>({ seconds })
  const sent = (await vendor?.ask<{ sent: number }>({}))?.sent ?? 0
  for (const child of [vendor, daemon, service]) await child?.end()
  if (lags.length === 0) throw new Error(`in ${wall} s no call finished, in ${polls} polls`)
  return {
    lags,
    perMinute: (60 * requests) / wall,
    note: `${polls} polls and ${hinted} hinted requests in ${wall.toFixed(0)} s, ${sent} webhooks, ${((100 * cpu) / wall).toFixed(0)}% of a core`,
  }
}
