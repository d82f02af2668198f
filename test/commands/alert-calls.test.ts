import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/alerts/rule.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { firingOf, POLL_AGE, RATIO, ruleOn } from '../alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../ledger/seen.ts'
import { openIn } from '../store/contract/place.ts'
import { callwatch, configFile, emptyFolder } from './callwatch.ts'

const BUSY = ruleOn({ name: 'in_progress' }, { name: 'Busy' })
const window = { from: CREATED + 100, to: CREATED + 200 }
/** A call that ended so many seconds after the set-up. */
const over = (id: string, status: 'ended' | 'rejected', at: number) =>
  seen(id, status, { initiatedAt: CREATED + at - 5, endedAt: CREATED + at })

/** Runs the command on a store whose calls and alerts a daemon still holds open. */
async function alertCalls(...args: string[]) {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const { see: seeOther } = await openIn(store, { name: 'staging', fingerprint: 'y' })
  const at = CREATED + 200
  const alert = (target: string, differing: Parameters<typeof firingOf>[3] = {}, rule: Rule = RATIO) => {
    const fired = firingOf(rule, target, at, { window, ...differing })
    return { change: fired, receivers: [] }
  }
  await see(completePoll(30))
  await see(
    completePoll(
      250,
      over('early', 'rejected', 90),
      over('first', 'rejected', 100),
      over('fine', 'ended', 150),
      over('last', 'rejected', 200),
      over('late', 'rejected', 201),
      seen('open', 'ongoing', { initiatedAt: CREATED + 40, startedAt: CREATED + 50 }),
    ),
    {
      routedChanges: [
        alert('production'),
        alert('production', { firingSince: at - 150, at: at - 150, window: { from: CREATED, to: CREATED + 95 } }),
        alert('production', { key: 'Split{type="audio"}', alert: 'Split', labels: { type: 'audio' } }),
        alert('production', { key: 'Split{type="video"}', alert: 'Split', labels: { type: 'video' } }),
        alert('production', {}, POLL_AGE),
        alert('production', {}, BUSY),
        alert('production', { alert: 'Freed', key: 'Freed' }, BUSY),
        alert('production', { alert: 'Freed', key: 'Freed', kind: 'resolved', at: at + 9 }, BUSY),
      ],
    },
  )
  await seeOther(completePoll(250), { routedChanges: [alert('staging', { alert: 'Both', key: 'Both' })] })
  await see(completePoll(260), { routedChanges: [alert('production', { alert: 'Both', key: 'Both' })] })
  const config = configFile(`
targets:
  - { name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }
  - { name: staging, base_url: 'http://127.0.0.1:2/v3', api_key: key }
store: { path: '${path}' }
`)
  const ended = await callwatch(['alerts', 'calls', '--config', config, ...args])
  await store.close()
  return ended
}

const idsOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await alertCalls(...args, '--format', 'ndjson')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line).session_id)
}

test('alerts calls prints the calls behind the alert as a table, newest first', async () => {
  const { code, stdout, stderr } = await alertCalls('HighFailureRate')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(
    [
      'finished (UTC)       target      session id  type   mode  receiver  status    duration  participants',
      '2026-09-21 14:16:40  production  last        audio  call  user      rejected         -             0',
      '2026-09-21 14:15:00  production  first       audio  call  user      rejected         -             0',
      '',
    ].join('\n'),
  )
})

test('alerts calls prints them as CSV and JSON, as the API answers', async () => {
  const csv = (await alertCalls('HighFailureRate', '--format', 'csv')).stdout.split('\n')
  expect(csv[0]).toMatch(/^target,session_id,type,mode,/)
  expect(csv.slice(1).map((line) => line.split(',')[1])).toEqual(['last', 'first', undefined])
  const { calls } = JSON.parse((await alertCalls('HighFailureRate', '--format', 'json')).stdout)
  expect(calls).toMatchObject([
    { session_id: 'last', status: 'rejected', finished: '2026-09-21T14:16:40.000Z' },
    { session_id: 'first' },
  ])
})

test('alerts calls has the calls of an earlier firing, of one set of labels, of one target and in progress', async () => {
  expect(await idsOf('HighFailureRate', '--at', '2026-09-21T14:14:10')).toEqual(['early'])
  expect(await idsOf('Split{type="audio"}')).toEqual(['last', 'first'])
  expect(await idsOf('Split{type="video"}')).toEqual([])
  expect(await idsOf('Both', '--target', 'staging')).toEqual([])
  expect(await idsOf('Both', '--target', 'production')).toEqual(['last', 'first'])
  expect(await idsOf('Busy')).toEqual(['open'])
})

test.each([
  [['Nope'], 'no alert Nope fired; `callwatch alerts` lists those that did'],
  [['HighFailureRate', '--at', '2026-09-21T14:00'], 'no alert HighFailureRate fired at 2026-09-21T14:00;'],
  [['HighFailureRate', '--at', 'then'], '--at then: expected a date such as'],
  [['Split'], `Split is several alerts: name one of 'Split{type="audio"}' --target production, 'Split{type="video"}'`],
  [['Both'], 'Both is several alerts: name one of Both --target production, Both --target staging'],
  [['NoGoodPoll'], 'there is no list of the calls behind NoGoodPoll: it measures poll_age'],
  [['Freed'], 'the calls behind Freed are not known any more: it has ended, and it measured calls in progress'],
  [['Both', '--target', 'nope'], 'there is no target nope; the targets are production, staging'],
  [[], "missing required argument 'alert'"],
])('alerts calls %j exits 2 with a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await alertCalls(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})
