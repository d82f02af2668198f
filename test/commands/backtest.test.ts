import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import { keepTarget } from '../../src/store/keep-target.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { POLL_AGE, RATIO, ruleOn } from '../alerts/sample-rules.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { completeLook, CREATED, seen } from '../ledger/seen.ts'
import { callwatch, configFile, emptyFolder } from './callwatch.ts'

const INTERVAL = 15
const MINUTE = 60
const RULES = [
  { ...RATIO, name: 'Failing', signal: { ...RATIO.signal, window: 600, minCalls: 5 }, for: 60, keepFiringFor: 120 },
  ruleOn({ name: 'calls', window: 600 }, { name: 'Quiet', breach: 'below', threshold: 1, severity: 'info' }),
  POLL_AGE,
]
const YAML = `
alerts:
  - { name: Failing, signal: failure_ratio, window: 10m, above: 0.3, clear: 0.2, min_calls: 5, for: 1m, keep_firing_for: 2m }
  - { name: Quiet, signal: calls, window: 10m, below: 1, severity: info }
  - { name: NoGoodPoll, signal: poll_age, above: 5m, severity: critical }
  - { name: Busy, signal: in_progress, above: 100 }
`

/**
 * Two hours as a daemon lives them: a call a minute, all of which fail for a while; an hour in, ten minutes without a good
 * look; a restart; and none at all towards the end.
 */
async function livedThrough() {
  const path = join(emptyFolder(), 'callwatch.db')
  const clock = virtualClock(CREATED)
  const said: Notification[] = []
  const open = async () => {
    const store = openSqliteStore({ path })
    const ledger = { lookback: 86_400, baseline: 'skip', details: 'never' } as const
    const identity = { name: 'production', fingerprint: 'x' }
    return {
      store,
      keeper: await keepTarget({ store, clock, identity, ledger, rules: RULES, route: () => [], interval: INTERVAL }),
    }
  }
  let { store, keeper } = await open()
  for (let seconds = 0; seconds < 120 * MINUTE; seconds += INTERVAL) {
    const minute = seconds / MINUTE
    if (minute === 30) {
      await store.close()
      ;({ store, keeper } = await open())
    }
    const committed = [await keeper.tick()]
    if (minute < 60 || minute >= 70) {
      const status = minute >= 20 && minute < 35 ? 'rejected' : 'ended'
      const call = seen(`call ${Math.floor(minute)}`, status, { endedAt: CREATED + Math.floor(minute) * MINUTE })
      committed.push(await keeper.fold(completeLook(seconds, ...(minute < 100 ? [call] : []))))
    }
    said.push(...committed.flatMap((each) => each?.alerts.notifications ?? []))
    await clock.advance(INTERVAL)
  }
  await store.close()
  const config = configFile(`
targets: [{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { path: ${path} }
poll: { interval: ${INTERVAL}s }
${YAML}`)
  return { config, said }
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

test('a backtest gives the verdicts that were given live, and names what it cannot replay', async () => {
  const { config, said } = await livedThrough()
  const { code, stdout, stderr } = await callwatch(['backtest', '--since', '3650d', '--json', '--config', config])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { targets, not_replayed: notReplayed } = JSON.parse(stdout)
  const live = said
    .filter(({ kind }) => kind === 'firing')
    .map((fired) => {
      const end = said.find(({ key, kind, at }) => key === fired.key && kind !== 'firing' && at >= fired.at)
      const { alert, value, calls = null } = fired
      return { alert, fired: iso(fired.at), value, calls, ended: end ? iso(end.at) : null, end: end?.kind ?? null }
    })
  expect(live.map(({ alert }) => alert)).toEqual(['Failing', 'NoGoodPoll', 'Quiet'])
  expect(targets[0].incidents).toMatchObject(live)
  expect(notReplayed).toEqual(['Busy'])
})

test('a backtest reads as a person wants it: when, how bad, for how long', async () => {
  const { config } = await livedThrough()
  const { stdout } = await callwatch(['backtest', '--since', '3650d', '--config', config])
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^production: \d+ evaluations, 2026-09-21 14:13:20 UTC to 2026-09-21 16:13:05 UTC$/)
  expect(lines[1]).toBe('  Failing: would have fired once, for 20m 15s in all')
  expect(lines[2]).toBe(
    '    2026-09-21 14:37:20 UTC  5 of 11 calls that finished in the last 10m failed: 45.5 %, above the threshold of ' +
      '30 %; resolved after 20m 15s, worst 100 %',
  )
  expect(lines.at(-1)).toBe('Busy: not replayed, the history does not hold what in_progress goes by')
})

test.each([
  [['--since', 'yesterday'], 2, 'It must be a duration such as 30m, 2h or 7d.'],
  [[], 2, 'there is no store'],
])('%j without a store is refused with a sentence', async (args, expected, sentence) => {
  const config = configFile(`
targets: [{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { path: nowhere.db }
`)
  const { code, stderr } = await callwatch(['backtest', ...args, '--config', config])
  expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringContaining(sentence) })
})
