import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import { notificationOf } from '../../../src/alerts/notification.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf, openIn, instance, NO_ALERTS } from '../../kit/store/place.ts'
import { callwatch, configFile, emptyFolder } from '../../kit/commands/callwatch.ts'

const HOUR = 3600
const configOf = (path: string, ...names: string[]) =>
  configFile(`
targets: [${names.map((name, i) => `{ name: ${name}, base_url: 'http://127.0.0.1:${i + 1}/v3', api_key: key }`).join(', ')}]
store: { path: '${path}' }
`)

test.each([0, -3 * HOUR])('alerts calls of stuck calls counts by the clock of the service (%i)', async (skew) => {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  const { deltaOf } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const now = Date.now() / 1000
  const began = (id: string, ago: number) =>
    seen(id, 'ongoing', { initiatedAt: now + skew - ago, startedAt: now + skew - ago })
  const delta = deltaOf(completePoll(now + skew - CREATED, began('ten minutes', 600), began('two hours', 2 * HOUR)))
  const rule = ruleOn({ name: 'stuck_calls', longerThan: HOUR }, { name: 'Stuck', threshold: 0 })
  const of = { ...instance, rule, key: 'Stuck', since: now - 60, firingSince: now - 60, value: 1, peak: 1 }
  await store.commit(
    'production',
    commitOf(
      { ...delta, sync: { ...delta.sync, clockSkew: skew } },
      {
        alerts: { ...NO_ALERTS, changed: [of] },
        routedChanges: [
          {
            change: notificationOf({ kind: 'firing' }, { target: 'production', instance: of }, now - 60),
            receivers: [],
          },
        ],
      },
    ),
  )
  const { stdout, stderr } = await callwatch([
    'alerts',
    'calls',
    'Stuck',
    '--config',
    configOf(path, 'production'),
    '--format',
    'ndjson',
  ])
  await store.close()
  expect(stderr).toBe('')
  expect(
    stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).session_id),
  ).toEqual(['two hours'])
})

test('calls --since lists the calls that the report counts, also of removed targets', async () => {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  for (const name of ['production', 'removed']) {
    const { see } = await openIn(store, { name, fingerprint: name })
    await see(completePoll(3600, seen(`of ${name}`, 'ended', { endedAt: CREATED + 1800 })))
  }
  const config = configOf(path, 'production')
  const report = await callwatch(['report', '--config', config, '--json'])
  const calls = await callwatch(['calls', '--since', '2026-09-01', '--config', config, '--format', 'ndjson'])
  await store.close()
  expect(calls.stdout.trim().split('\n').length).toBe(JSON.parse(report.stdout).total.calls.ended)
})

test('report --json has no noise', async () => {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const one = (id: string, video: number) =>
    seen(id, 'ended', { endedAt: CREATED + 1800, participantMinutes: { audio: 0, video, total: undefined } })
  await see(completePoll(3600, one('a', 0.1), one('b', 0.2)))
  const report = await callwatch(['report', '--config', configOf(path, 'production'), '--json'])
  await store.close()
  expect(JSON.parse(report.stdout).total.participant_minutes.video).toBe(0.3)
})
