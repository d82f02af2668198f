import { setTimeout as sleep } from 'node:timers/promises'
import { writeConfigFile } from '../config-file.ts'
import type { Child } from '../child.ts'
import type { Present, Worked } from '../processes/daemon.ts'
import type { DatabaseAnswer } from '../processes/database.ts'
import { median, percentile, times, type Bench, type Row, type Scenario } from '../scenario.ts'
import { lightWorld } from '../worlds.ts'

const DAEMONS = 3
/** As shipped (seconds). */
const LEASE_SECONDS = 10

/** Daemons that share many targets and one database, all on one machine: what each of them takes, and how soon they know. */
export const cluster: Scenario = {
  name: 'cluster',
  rows: ['cluster'],
  run: async (bench) => {
    const { shared: targets, seconds } = bench.sizes
    const { row } = await sharedTargets(bench, { name: 'cluster', targets, interval: 30, seconds })
    return [row]
  },
}

/** The same with five times as many targets, the memory that they take, an overview of all, and the death of a daemon. */
export const tenThousand: Scenario = {
  name: 'ten thousand',
  rows: ['ten thousand', 'ten thousand (memory)', 'ten thousand (overview)', 'ten thousand (failover)'],
  run: async (bench) => {
    const { sharedAtLeisure: targets } = bench.sizes
    const options = { name: 'ten thousand', targets, interval: 120, seconds: 120 }
    const { row, daemons } = await sharedTargets(bench, options)
    const [dying, ...others] = daemons
    const present = await Promise.all(daemons.map((daemon) => daemon.ask<Present>({})))
    const overviews = await times(5, async () => overviewOf(present[1]!.url, targets, 'identity'))
    const compressed = await times(5, async () => overviewOf(present[1]!.url, targets, 'gzip'))
    const takes = await failover(dying!, others, targets)
    const kilobytes = present.map(({ rss, owned }) => Math.round(rss / 1e3 / owned))
    const megabytes = present.map(({ rss }) => Math.round(rss / 1e6))
    return [
      row,
      {
        row: 'ten thousand (memory)',
        measured: Math.max(...kilobytes),
        target: 250,
        unit: 'KB a target',
        note: `RSS a target of its own; ${megabytes.join(', ')} MB, ${present.map(({ owned }) => owned).join(', ')} targets`,
      },
      {
        row: 'ten thousand (overview)',
        measured: median(overviews.map(({ seconds }) => seconds)),
        target: 0.3,
        unit: 's',
        note:
          `/api/v1/state of all targets; ${Math.round(overviews[0]!.bytes / 1e6)} MB; ` +
          `${median(compressed.map(({ seconds }) => seconds)).toFixed(2)} s where the client, on this machine as well, accepts gzip`,
      },
      {
        row: 'ten thousand (failover)',
        measured: takes,
        target: LEASE_SECONDS + 10,
        unit: 's',
        note: `from the death of a daemon until the others had loaded its ${present[0]!.owned} targets; the lease is ${LEASE_SECONDS} s`,
      },
    ]
  },
}

type SharedTargetsOptions = { name: string; targets: number; interval: number; seconds: number }

/** Polls targets with several daemons. Before that, until all have an owner and had their initial sync, three intervals pass. */
async function sharedTargets(
  bench: Bench,
  { name, targets, interval, seconds }: SharedTargetsOptions,
): Promise<{ row: Row; daemons: Child[] }> {
  const service = await bench.start('service', { world: lightWorld(Date.now() / 1000) })
  const { origin } = new URL((await service.ask<{ url: string }>({})).url)
  const urls = Array.from({ length: targets }, (_, i) => `${origin}/app-${i}/v3`)
  const database = await bench.start('database', {})
  const { url } = await database.ask<DatabaseAnswer>({})
  const file = writeConfigFile(bench, { name, urls, store: { url }, poll: { interval: `${interval}s` } })
  const daemons: Child[] = []
  for (let i = 0; i < DAEMONS; i++) daemons.push(await bench.start('daemon', { file }))
  await Promise.all(daemons.map((daemon) => daemon.ask<Worked>({ seconds: 3 * interval })))
  const before = await database.ask<DatabaseAnswer>({})
  const worked = await Promise.all(daemons.map((daemon) => daemon.ask<Worked>({ seconds })))
  const after = await database.ask<DatabaseAnswer>({})
  const sum = (of: (one: Worked) => number) => worked.reduce((total, one) => total + of(one), 0)
  const polls = sum((one) => one.polls)
  const wall = Math.max(...worked.map((one) => one.wall))
  const share = (cpu: number) => `${((100 * cpu) / wall).toFixed(0)}%`
  const lags = worked.flatMap((one) => one.lags)
  if (lags.length === 0) throw new Error(`in ${wall} s no call finished, in ${polls} polls`)
  const row = {
    row: name,
    measured: percentile(lags, 0.99),
    target: interval + 2,
    unit: 's',
    note:
      `p99 of ${lags.length} calls that finished, of ${targets} targets at ${interval} s; ` +
      `${(sum((one) => one.commits) / wall).toFixed(0)} commits a second, each ${((1000 * sum((one) => one.commitSeconds)) / sum((one) => one.commits)).toFixed(1)} ms; ` +
      `${polls} of ${Math.round((targets * wall) / interval)} polls; ` +
      `of a core the daemons took ${worked.map(({ cpu }) => share(cpu)).join(', ')}, the database ${share(after.cpu - before.cpu)}, ` +
      `which is ${((1000 * (after.cpu - before.cpu)) / polls).toFixed(1)} ms a poll`,
  }
  return { row, daemons }
}

/** Requests the status of all targets (seconds, bytes), encoded so. */
async function overviewOf(
  url: string,
  targets: number,
  encoding: 'identity' | 'gzip',
): Promise<{ seconds: number; bytes: number }> {
  const begun = performance.now()
  const text = await (await fetch(new URL('api/v1/state', url), { headers: { 'accept-encoding': encoding } })).text()
  const seconds = (performance.now() - begun) / 1000
  const shown: unknown[] = JSON.parse(text).targets
  if (shown.length !== targets) throw new Error(`the status shows ${shown.length} of ${targets} targets`)
  return { seconds, bytes: text.length }
}

/** Ends a daemon without a word to the others; resolves with the seconds until these have loaded all targets. */
async function failover(dying: Child, others: readonly Child[], targets: number): Promise<number> {
  await dying.end()
  const begun = performance.now()
  for (;;) {
    const present = await Promise.all(others.map((daemon) => daemon.ask<Present>({})))
    const seconds = (performance.now() - begun) / 1000
    if (present.reduce((sum, { loaded }) => sum + loaded, 0) === targets) return seconds
    if (seconds > 300) throw new Error('the targets of a daemon that died were not loaded within 5 min')
    await sleep(100)
  }
}
