import { writeConfigFile } from '../config-file.ts'
import type { Worked } from '../processes/daemon.ts'
import type { DatabaseAnswer } from '../processes/database.ts'
import { percentile, type Scenario } from '../scenario.ts'
import { lightWorld } from '../worlds.ts'

const DAEMONS = 3
const INTERVAL = 30
/** Until all targets have an owner, and each had its initial sync (seconds). */
const SETTLING = 2 * INTERVAL

/** Daemons that share many targets and one database, all on one machine: what each of them takes, and how soon they know. */
export const cluster: Scenario = {
  name: 'cluster',
  rows: ['cluster'],
  run: async (bench) => {
    const { shared: targets, seconds } = bench.sizes
    const service = await bench.start('service', { world: lightWorld(Date.now() / 1000) })
    const { origin } = new URL((await service.ask<{ url: string }>({})).url)
    const urls = Array.from({ length: targets }, (_, i) => `${origin}/app-${i}/v3`)
    const database = await bench.start('database', {})
    const { url } = await database.ask<DatabaseAnswer>({})
    const file = writeConfigFile(bench, { name: 'cluster', urls, store: { url }, poll: { interval: `${INTERVAL}s` } })
    const daemons = []
    for (let i = 0; i < DAEMONS; i++) daemons.push(await bench.start('daemon', { file }))
    await Promise.all(daemons.map((daemon) => daemon.ask<Worked>({ seconds: SETTLING })))
    const before = await database.ask<DatabaseAnswer>({})
    const worked = await Promise.all(daemons.map((daemon) => daemon.ask<Worked>({ seconds })))
    const after = await database.ask<DatabaseAnswer>({})
    const sum = (of: (one: Worked) => number) => worked.reduce((total, one) => total + of(one), 0)
    const polls = sum((one) => one.polls)
    const wall = Math.max(...worked.map((one) => one.wall))
    const share = (cpu: number) => `${((100 * cpu) / wall).toFixed(0)} %`
    const lags = worked.flatMap((one) => one.lags)
    if (lags.length === 0) throw new Error(`in ${wall} s no call finished, in ${polls} polls`)
    return [
      {
        row: 'cluster',
        measured: percentile(lags, 0.99),
        target: INTERVAL + 2,
        unit: 's',
        note:
          `p99 of ${lags.length} calls that finished, of ${targets} targets at ${INTERVAL} s; ` +
          `${(sum((one) => one.commits) / wall).toFixed(0)} commits a second, each ${((1000 * sum((one) => one.commitSeconds)) / sum((one) => one.commits)).toFixed(1)} ms; ` +
          `${polls} of ${Math.round((targets * wall) / INTERVAL)} polls; ` +
          `of a core the daemons took ${worked.map(({ cpu }) => share(cpu)).join(', ')}, the database ${share(after.cpu - before.cpu)}, ` +
          `which is ${((1000 * (after.cpu - before.cpu)) / polls).toFixed(1)} ms a poll`,
      },
    ]
  },
}
