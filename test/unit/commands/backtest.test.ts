import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Notification } from '../../../src/alerts/notification.ts'
import { commitObservation, tick } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'

const INTERVAL = 15
const MINUTE = 60
const RULES = [
  { ...RATIO, name: 'Failing', signal: { ...RATIO.signal, window: 600, minCalls: 5 }, for: 60, keepFiringFor: 120 },
  ruleOn({ name: 'calls_finished', window: 600 }, { name: 'Quiet', breach: 'below', threshold: 1, severity: 'info' }),
  POLL_AGE,
]
const YAML = `
alerts:
  - { name: Failing, signal: failure_ratio, window: 10m, above: 0.3, clear: 0.2, min_calls: 5, for: 1m, keep_firing_for: 2m }
  - { name: Quiet, signal: calls_finished, window: 10m, below: 1, severity: info }
  - { name: NoGoodPoll, signal: poll_age, above: 5m, severity: critical }
  - { name: Busy, signal: in_progress, above: 100 }
`

/** Calls of two hours before, of which 40% failed. */
const PAST = Array.from({ length: 100 }, (_, i) =>
  seen(`past ${i}`, i < 40 ? 'rejected' : 'ended', { endedAt: CREATED - 120 * MINUTE }),
)

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

/**
 * Two hours of a daemon: a call a minute, all of which fail for a while; after an hour ten minutes without a successful
 * poll; a restart; and no calls towards the end.
 */
async function runLive(path: string) {
  const clock = virtualClock(CREATED)
  const notifications: Notification[] = []
  const open = async () => {
    const store = openSqliteStore({ path })
    const poll = pollConfig({ interval: INTERVAL, details: 'never' })
    const settings = { target: targetConfig({ name: 'production' }), poll, rules: RULES }
    return { store, target: await openTarget({ settings, store, clock }) }
  }
  let { store, target } = await open()
  await commitObservation(target, completePoll(0, ...PAST))
  for (let seconds = 0; seconds < 120 * MINUTE; seconds += INTERVAL) {
    const minute = seconds / MINUTE
    if (minute === 30) {
      await store.close()
      ;({ store, target } = await open())
    }
    const committed = [await tick(target)]
    if (minute < 60 || minute >= 70) {
      const status = minute >= 20 && minute < 35 ? 'rejected' : 'ended'
      const call = seen(`call ${Math.floor(minute)}`, status, { endedAt: CREATED + Math.floor(minute) * MINUTE })
      committed.push(await commitObservation(target, completePoll(seconds, ...(minute < 100 ? [call] : []))))
    }
    notifications.push(...committed.flatMap((each) => each?.alerts.notifications ?? []))
    await clock.advance(INTERVAL)
  }
  await store.close()
  return notifications
}

describe('backtest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-'))
  const path = join(folder, 'callwatch.db')
  let notifications: Notification[]
  beforeAll(async () => void (notifications = await runLive(path)))
  afterAll(() => rmSync(folder, { recursive: true }))
  const backtest = (...args: string[]) => backtestOf(['production'], ...args)
  const backtestOf = (names: string[], ...args: string[]) => {
    const targets = names.map((name) => `{ name: ${name}, base_url: 'http://127.0.0.1:1/v3', api_key: key }`)
    const config = configFile(`
targets: [${targets.join(', ')}]
store: { path: ${path} }
poll: { interval: ${INTERVAL}s }
${YAML}`)
    return callwatch(['backtest', '--since', '3650d', ...args, '--config', config])
  }

  test('finds the alerts that fired live, and names the rules that it cannot replay', async () => {
    const { code, stdout, stderr } = await backtest('--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { targets, not_replayed: notReplayed } = JSON.parse(stdout)
    const live = notifications
      .filter(({ kind }) => kind === 'firing')
      .map((fired) => {
        const end = notifications.find(({ key, kind, at }) => key === fired.key && kind !== 'firing' && at >= fired.at)
        const { alert, value, calls = null } = fired
        return {
          alert,
          fired: iso(fired.at),
          value,
          calls,
          until: end ? iso(end.at) : null,
          outcome: end?.kind ?? null,
        }
      })
    expect(live.map(({ alert }) => alert)).toEqual(['Failing', 'NoGoodPoll', 'Quiet'])
    expect(targets[0].incidents).toMatchObject(live)
    expect(notReplayed).toEqual(['Busy'])
  })

  test('says the largest value and when, and draws the values, also where nothing would have fired', async () => {
    const { stdout } = await backtest('--rule', configFile('{ name: Calm, signal: poll_age, above: 30m }'))
    const lines = stdout.trimEnd().split('\n')
    expect(lines.splice(1, 1)).toEqual(['  no earlier ones: calls from before the set-up fire no alerts'])
    expect(lines.slice(1, 3)).toEqual([
      '  Calm: would not have fired',
      '    largest value 10m 15s at 2026-09-21 15:23:20 UTC, threshold 30m',
    ])
    expect(lines[3]).toMatch(/^30m ┼─+$/)
    expect(lines).toHaveLength(10)
    expect(lines.at(-1)).toMatch(/^ +2026-09-21 14:13:20 UTC +2026-09-21 16:13:05 UTC$/)
    expect(lines.filter(({ length }) => length > 80)).toEqual([])
  })

  test('of values without enough calls for a result none is the largest', async () => {
    const { stdout } = await backtest(
      '--rule',
      configFile('{ name: Few, signal: failure_ratio, window: 10m, above: 0.3, min_calls: 500 }'),
    )
    expect(stdout).toContain('  Few: would not have fired\n    no value that could be compared, threshold 30%\n')
  })

  test('has the threshold and the usual share of the time of the largest value', async () => {
    const rule = configFile(
      '{ name: Usual, signal: failure_ratio, window: 10m, above: 0.3, above_usual: 0.15, min_calls: 5 }',
    )
    expect((await backtest('--rule', rule)).stdout).toContain(
      'largest value 100% of 10 calls at 2026-09-21 14:42:35 UTC, threshold 55%, usually 40%\n',
    )
    const { targets } = JSON.parse((await backtest('--json', '--rule', rule)).stdout)
    expect(targets[0].rules[0]).toMatchObject({ threshold: 0.3, worst: { threshold: 0.55 } })
    expect(targets[0].incidents).toMatchObject([{ threshold: 0.55 }])
  })

  test('tries the rules of a file instead of the configured ones', async () => {
    const rules = configFile(`
- { name: Failing, signal: failure_ratio, window: 10m, above: 0.95, by: [type], min_calls: 5 }
- { name: Quiet, signal: calls_finished, window: 10m, below: 1 }
- { name: Open, signal: in_progress, above: 10 }
`)
    const { stdout } = await backtest('--json', '--rule', rules)
    const { targets, not_replayed: notReplayed } = JSON.parse(stdout)
    expect(notReplayed).toEqual(['Open'])
    expect(targets[0].rules).toEqual([
      {
        alert: 'Failing',
        times: 1,
        breach: 'above',
        threshold: 0.95,
        worst: { value: 1, threshold: 0.95, at: '2026-09-21T14:42:35.000Z', labels: { type: 'audio' }, calls: 10 },
      },
      {
        alert: 'Quiet',
        times: 1,
        breach: 'below',
        threshold: 1,
        worst: { value: 0, threshold: 1, at: expect.any(String), labels: {}, calls: 0 },
      },
    ])
  })

  test('of several targets begins with a row for each rule, and of many has nothing else', async () => {
    const summary = [
      'rule        fired      for  targets',
      'Failing         1  20m 15s        1',
      'Quiet           1  10m 30s        1',
      'NoGoodPoll      1       5m        1',
      '',
    ]
    const two = await backtestOf(['production', 'a'])
    expect(two.stdout.split('\n').slice(0, 6)).toEqual([...summary, expect.stringMatching(/^production: /)])
    const five = ['production', 'a', 'b', 'c', 'd']
    expect((await backtestOf(five)).stdout.trimEnd().split('\n')).toEqual([
      ...summary,
      '--all prints when, on each of 5 targets',
      'Busy: not replayed, the history lacks the data of in_progress',
    ])
    expect((await backtestOf(five, '--all')).stdout).toMatch(/^d: no evaluations since /m)
  })

  test('prints when, how badly and for how long each rule would have fired', async () => {
    const { stdout } = await backtest()
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^production: \d+ evaluations, 2026-09-21 14:13:20 UTC to 2026-09-21 16:13:05 UTC$/)
    expect(lines.splice(1, 1)).toEqual(['  no earlier ones: calls from before the set-up fire no alerts'])
    expect(lines.slice(1, 3)).toEqual([
      '  Failing: would have fired once, for 20m 15s in all',
      '    largest value 100% of 10 calls at 2026-09-21 14:42:35 UTC, threshold 30%',
    ])
    expect(lines[3]).toBe(
      '    2026-09-21 14:37:20 UTC  5 of 11 calls that finished in the last 10m failed: 45.5%, above the threshold of ' +
        '30%; resolved after 20m 15s, worst 100%',
    )
    expect(lines.at(-1)).toBe('Busy: not replayed, the history lacks the data of in_progress')
  })
})

test.each([
  [['--since', '2026'], 2, '--since 2026: expected a date such as 2026-11-01'],
  [['--since', 'yesterday'], 2, '--since yesterday: expected a date such as 2026-11-01'],
  [[], 2, 'there is no store'],
])('backtest %j without a store exits 2 with a sentence', async (args, expected, sentence) => {
  const config = configFile(`
targets: [{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { path: nowhere.db }
`)
  const { code, stderr } = await callwatch(['backtest', ...args, '--config', config])
  expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringContaining(sentence) })
})
