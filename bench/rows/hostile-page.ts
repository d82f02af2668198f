import { writeConfigFile } from '../config-file.ts'
import { HOSTILE_PAGES } from '../hostile-pages.ts'
import type { Watched, Worked } from '../processes/daemon.ts'
import { times, type Scenario } from '../scenario.ts'

/** For how long a daemon is answered so, a poll each second (seconds). */
const ATTACKED = 8

/** A daemon stays awake, and small, whatever the service answers. */
export const hostilePage: Scenario = {
  name: 'hostile page',
  rows: ['hostile page', 'hostile page (growth)'],
  run: async (bench) => {
    const service = await bench.start('hostile-service', {})
    const names = Object.keys(HOSTILE_PAGES)
    const rounds = await times(names.length, async (round) => {
      const attack = names[round]!
      const { url } = await service.ask<{ url: string }>({})
      const file = writeConfigFile(bench, { name: `hostile-${round}`, urls: [url], poll: { interval: '1s' } })
      const daemon = await bench.start('daemon', { file })
      const before = await daemon.ask<Worked>({ until: 3 })
      await service.ask({ attack })
      const { longestTurn, peakBytes } = await daemon.ask<Watched>({ seconds: ATTACKED, watched: true })
      await daemon.end()
      return { attack, turn: longestTurn * 1000, growth: (peakBytes - before.peakBytes) / 1e6 }
    })
    const noteOf = (figure: (round: (typeof rounds)[number]) => number) =>
      rounds.map((round) => `${round.attack}: ${figure(round).toFixed(0)}`).join('; ')
    return [
      {
        row: 'hostile page',
        measured: Math.max(...rounds.map(({ turn }) => turn)),
        target: 200,
        unit: 'ms',
        note: noteOf(({ turn }) => turn),
      },
      {
        row: 'hostile page (growth)',
        measured: Math.max(...rounds.map(({ growth }) => growth)),
        target: 100,
        unit: 'MB',
        note: noteOf(({ growth }) => growth),
      },
    ]
  },
}
