import { expect, test } from 'vitest'
import { ruleOn } from '../../kit/alerts/sample-rules.ts'
import { notificationOf } from '../../../src/alerts/notification.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf, openIn, instance, NO_ALERTS } from '../../kit/store/place.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

const HOUR = 3600

test.each([0, -3 * HOUR])('alerts calls of stuck calls counts by the clock of the service (%i)', async (skew) => {
  const { store, config } = storeInUse()
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
        changes: [notificationOf({ kind: 'firing' }, { target: 'production', instance: of }, now - 60)],
      },
    ),
  )
  const { stdout, stderr } = await callwatch(['alerts', 'calls', 'Stuck', '--config', config, '--format', 'ndjson'])
  expect(stderr).toBe('')
  expect(stdout.match(/"session_id":"[^"]*"/g)).toEqual(['"session_id":"two hours"'])
})

test('calls --since lists the calls that the report counts, also of removed targets', async () => {
  const { store, config } = storeInUse()
  for (const name of ['production', 'removed']) {
    const { see } = await openIn(store, { name, fingerprint: name })
    await see(completePoll(3600, seen(`of ${name}`, 'ended', { endedAt: CREATED + 1800 })))
  }
  const report = await callwatch(['report', '--config', config, '--json'])
  const calls = await callwatch(['calls', '--since', '2026-09-01', '--config', config, '--format', 'ndjson'])
  expect(calls.stdout.trim().split('\n').length).toBe(JSON.parse(report.stdout).total.calls.ended)
})

test('report --json has no noise', async () => {
  const { store, config } = storeInUse()
  const { see } = await openIn(store, { name: 'production', fingerprint: 'x' })
  const one = (id: string, video: number) =>
    seen(id, 'ended', { endedAt: CREATED + 1800, participantMinutes: { audio: 0, video, total: undefined } })
  await see(completePoll(3600, one('a', 0.1), one('b', 0.2)))
  const report = await callwatch(['report', '--config', config, '--json'])
  expect(JSON.parse(report.stdout).total.participant_minutes.video).toBe(0.3)
})
