import { writeConfigFile } from '../config-file.ts'
import type { Attack, Attacked } from '../processes/attacker.ts'
import type { Watched, Worked } from '../processes/daemon.ts'
import type { Row, Scenario } from '../scenario.ts'
import { endingWorld, stillWorld } from '../worlds.ts'

const DAY = 86_400

/** All of the past, as fast as it is read. */
const STREAM = { request: 'GET /api/v1/events?after=0', accept: 'text/event-stream' }

/** What an attacker does who reaches the port, and for how many seconds its effect is measured. */
const ATTACKS: Record<string, Omit<Attack, 'url'>> = {
  'nothing, for comparison': { request: '', count: 0, seconds: 31 },
  'events, 200 times, unread': { request: 'GET /api/v1/events?limit=1000', count: 200, seconds: 5, deaf: true },
  'whole history, 20 times': { request: 'GET /api/v1/calls?since=0', count: 20, seconds: 5 },
  'whole history, 200 times, unread': {
    request: 'GET /api/v1/calls?since=0',
    count: 200,
    seconds: 5,
    deaf: true,
  },
  'all past events as streams, 200 times': { ...STREAM, count: 200, seconds: 20 },
  'all past events as streams, 200 times, unread': { ...STREAM, count: 200, seconds: 10, deaf: true },
  'whole history as CSV, 40 times': { request: 'GET /api/v1/calls?since=0&format=csv', count: 40, seconds: 20 },
  'calls in progress, 20 times': { request: 'GET /api/v1/calls', count: 20, seconds: 5 },
  'bodies, 200, byte by byte': { request: 'POST /api/v1/silences', count: 200, seconds: 13, body: 50_000 },
}

/** A client that reaches the port can neither block the daemon nor fill its memory. */
export const openSurface: Scenario = {
  name: 'open surface',
  rows: ['open surface', 'open surface (memory)'],
  run: async (bench) => {
    const { calls, busy } = bench.sizes
    const now = Math.floor(Date.now() / 1000)
    const over = await bench.start('service', { world: stillWorld(calls, now), now })
    const open = await bench.start('service', { world: { ...endingWorld(3 * busy, now), allEnd: now + DAY }, now })
    const services = [over, open].map((service) => service.ask<{ url: string }>({ prepare: true }))
    const urls = (await Promise.all(services)).map(({ url }) => url)
    const file = writeConfigFile(bench, { name: 'open-surface', urls, poll: { interval: '30s' } })
    const daemon = await bench.start('daemon', { file })
    const { url: page } = await daemon.ask<{ url: string }>({})
    const { calls: counted } = await daemon.ask<Worked>({ until: 1 })
    if (counted !== calls + 3 * busy) throw new Error(`the daemon saw ${counted} of ${calls + 3 * busy} calls`)
    const attacker = await bench.start('attacker', {})
    const results: { turn: number; growth: number; note: string }[] = []
    for (const [name, attack] of Object.entries(ATTACKS)) {
      // A second more: what was begun is ended.
      const working = daemon.ask<Watched>({ seconds: attack.seconds + 1, watched: true })
      const { statuses, closed } = await attacker.ask<Attacked>({ url: page, ...attack })
      const { longestTurn, growth } = await working
      const answered = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`)
      const [turn, grown] = [longestTurn * 1000, growth / 1e6]
      const note = `${name}: ${turn.toFixed(0)} ms, ${grown.toFixed(0)} MB (${answered.join(', ') || 'no answer'}, ${closed} closed)`
      results.push({ turn, growth: grown, note })
    }
    const rows: Row[] = [
      {
        row: 'open surface',
        measured: Math.max(...results.map(({ turn }) => turn)),
        target: 200,
        unit: 'ms',
        note: `longest turn and growth under each attack: ${results.map(({ note }) => note).join('; ')}`,
      },
      {
        row: 'open surface (memory)',
        measured: Math.max(...results.map(({ growth }) => growth)),
        target: 100,
        unit: 'MB',
        note: 'largest growth (RSS) under one of these attacks',
      },
    ]
    return rows
  },
}
