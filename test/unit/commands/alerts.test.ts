import { expect, test } from 'vitest'
import { ruleSummary } from '../../../src/commands/alerts/rule-summary.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import { notesOf } from '../../../src/notifications/delivery/notified.ts'
import { firingOf, POLL_AGE, RATIO } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

const AT = (hours: number) => CREATED + hours * 3600

/** An alert of `production` that fired, and resolved a quarter of an hour later. */
const past = (alert: Notification): Notification[] => [
  alert,
  {
    ...alert,
    kind: 'resolved',
    at: alert.at + 900,
    threshold: 0.2,
    episode: { threshold: alert.threshold, values: [] },
  },
]

/** Runs the command on a store in which alerts have fired, which a daemon still holds open. */
async function alerts(...args: string[]) {
  return alertsWith({}, ...args)
}

/** Of so many further alerts, in a terminal of so many columns. */
async function alertsWith({ more = 0, columns }: { more?: number; columns?: number }, ...args: string[]) {
  const { store, config } = storeInUse()
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const many = Array.from({ length: more }, (_, i) => past(firingOf(RATIO, 'production', AT(2) + 1000 * (i + 1))))
  const changes = [
    ...past(firingOf(RATIO, 'production', AT(1), { key: 'HighFailureRate{type="video"}', peak: 0.425 })),
    firingOf(POLL_AGE, 'production', AT(2), { kind: 'expired', expiredBecause: 'target removed', peak: 400, since: AT(2), firingSince: AT(2), at: AT(4) }), // oxfmt-ignore
    ...many.flat(),
  ]
  await see(completePoll(5 * 3600), { changes })
  await store.noteEpisodes(notesOf(changes.slice(0, 1), { receiver: 'slack', kind: 'firing', at: AT(2) }))
  return callwatch(['alerts', '--config', config, ...args], { columns })
}

test('alerts prints those that fired in a period as a table, newest first', async () => {
  const { code, stdout, stderr } = await alerts('--since', '2026-09-21')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(
    [
      'fired (UTC)          target      alert                          severity  outcome                  notified  for  threshold    peak',
      '2026-09-21 16:13:20  production  NoGoodPoll                     critical  expired: target removed  -          2h   above 5m  6m 40s',
      '2026-09-21 15:13:20  production  HighFailureRate{type="video"}  warning   resolved                 slack     15m  above 30%   42.5%',
      '',
    ].join('\n'),
  )
})

test('alerts begins a long list with a row for each rule, and shows its newest 20', async () => {
  const { stdout, stderr } = await alertsWith({ more: 20 }, '--since', '2026-09-21')
  const lines = stdout.trimEnd().split('\n')
  expect(lines.slice(0, 4)).toEqual([
    'rule             fired     for  targets',
    'HighFailureRate     21  5h 15m        1',
    'NoGoodPoll           1      2h        1',
    '',
  ])
  expect(lines.slice(5)).toHaveLength(20)
  expect(stderr).toBe('and 2 older ones: --all prints them\n')
  const all = await alertsWith({ more: 20 }, '--since', '2026-09-21', '--all')
  expect(all.stdout.trimEnd().split('\n').slice(5)).toHaveLength(22)
  expect(all.stderr).toBe('')
  const many = await alertsWith({ more: 1000 }, '--since', '2026-09-21', '--until', '2026-10-21')
  expect(many.stdout).toMatch(/^HighFailureRate +1,001 /m)
})

test('alerts in a narrow terminal says which columns have no room, and prints them with --wide', async () => {
  const table = async (...args: string[]) =>
    (await alertsWith({ columns: 90 }, '--since', '2026-09-21', '--until', '2026-09-21 16:00', ...args)).stdout.split(
      '\n',
    )
  expect(await table()).toEqual([
    'fired (UTC)          target      alert                          outcome   for   peak',
    '2026-09-21 15:13:20  production  HighFailureRate{type="video"}  resolved  15m  42.5%',
    '--wide also prints: severity, notified, threshold',
    '',
  ])
  expect(await table('--wide')).toHaveLength(3)
})

test('a rule that fires on several targets at the same time fires as long as on at least one', () => {
  const on = (target: string, from: number, to: number) => ({ rule: 'NoCalls', target, from, to })
  expect(ruleSummary([on('b', 60, 360), on('a', 0, 300), on('a', 600, 660)])).toEqual([
    'rule     fired  for  targets',
    'NoCalls      3   7m        2',
  ])
})

test('alerts prints JSON as the API answers', async () => {
  const { stdout } = await alerts('--since', '2026-09-21', '--until', '2026-09-21 16:00', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    alerts: [
      {
        alert: 'HighFailureRate',
        until: '2026-09-21T15:28:20.000Z',
        threshold: 0.3,
        notified: [{ receiver: 'slack', kind: 'firing', at: '2026-09-21T16:13:20.000Z' }],
      },
    ],
  })
})

test('alerts says that none fired', async () => {
  expect(await alerts('--since', '2026-09-20', '--until', '2026-09-21', '--target', 'production')).toMatchObject({
    code: 0,
    stdout: 'no alert fired\n',
  })
})

test.each([
  [['--since', '2026'], '--since 2026: expected a date such as'],
  [['--since', 'soon'], '--since soon: expected a date such as'],
  [['--since', '2026-09-21', '--until', '2026-09-21'], '--since must be before --until'],
  [['--target', 'nope'], 'there is no target nope; there is: production'],
  [['--format', 'csv'], "unknown option '--format'"],
])('alerts %j exits 2 with a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await alerts(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})
