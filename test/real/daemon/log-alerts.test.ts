import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AlertDelta } from '../../../src/alerts/evaluate.ts'
import { changeLog } from '../../../src/daemon/reporting/change-log.ts'
import { logAlerts } from '../../../src/daemon/reporting/log-alerts.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { at, evaluatedTarget, INTERVAL } from '../../unit/alerts/evaluated-target.ts'
import { POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'

/** What a daemon logs of its alerts, without what is for debugging. */
function logged() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const changes = changeLog(log)
  const changed = (target: string, delta: AlertDelta) => logAlerts(changes, target, delta)
  return { lines, changed, flush: changes.flush }
}

test('each change of state of an alert is one line, with target, alert, value and threshold', () => {
  const { lines, changed } = logged()
  const target = evaluatedTarget([{ ...RATIO, for: 2 * INTERVAL, keepFiringFor: INTERVAL, repeat: INTERVAL }])
  // Of twenty calls so many failed: it is pending, fires, is notified again, resolves, and is pending once more.
  const failed = [2, 10, 11, 12, 13, 14, 0, 0, 0, 10, 0]
  for (const [i, each] of failed.entries()) changed('production', target.poll(at(i * INTERVAL), each))
  const fields = { level: 30, target: 'production', alert: 'HighFailureRate', labels: {}, severity: 'warning' }
  expect(lines).toMatchObject([
    { ...fields, state: 'pending', value: 0.5, threshold: 0.3 },
    { ...fields, state: 'firing', value: 0.6, threshold: 0.3 },
    { ...fields, state: 'resolved', value: 0, threshold: 0.2 },
    { ...fields, state: 'pending', value: 0.5, threshold: 0.3 },
    { ...fields, state: 'inactive', value: 0, threshold: 0.3 },
  ])
  expect(lines.map(({ msg }) => msg)).toEqual([
    'alert HighFailureRate on production is pending: 50%, threshold 30% (above)',
    'alert HighFailureRate on production is firing: 12 of 20 calls that finished in the last 15m failed: 60%, above the threshold of 30%',
    'alert HighFailureRate on production has resolved: 0 of 20 calls that finished in the last 15m failed: 0%, back at or below 20%; peak 70%, lasted 1m',
    'alert HighFailureRate on production is pending: 50%, threshold 30% (above)',
    'alert HighFailureRate on production is no longer pending: 0%, threshold 30% (above)',
  ])
})

test('a pending alert that ends with its value beyond the threshold is a line without the value', () => {
  const { lines, changed } = logged()
  const target = evaluatedTarget([{ ...RATIO, for: 2 * INTERVAL }])
  changed('production', target.poll(at(0), 10))
  target.reload([])
  changed('production', target.poll(at(INTERVAL), 10))
  expect(lines.at(-1)!['msg']).toBe('alert HighFailureRate on production is no longer pending')
})

test('what a removed rule leaves behind is a line', () => {
  const { lines, changed } = logged()
  const target = evaluatedTarget([RATIO])
  target.poll(at(0), 10)
  target.reload([])
  changed('production', target.poll(at(INTERVAL), 10))
  expect(lines).toMatchObject([{ level: 30, target: 'production', alert: 'HighFailureRate', state: 'expired' }])
  expect(lines[0]!['msg']).toMatch(
    /^alert HighFailureRate on production expired: rule removed\. When last evaluated, 10 of /,
  )
})

test('of many alerts of a rule that change in the same moment three are a line each, and the others one line', () => {
  const { lines, changed, flush } = logged()
  const { notifications, ...delta } = evaluatedTarget([POLL_AGE]).tick(at(0), 320)
  const fire = (count: number) => {
    for (let i = 0; i < count; i++) {
      const target = `app ${i}`
      changed(target, { ...delta, notifications: notifications.map((each) => ({ ...each, target })) })
    }
    flush()
    return lines.splice(0)
  }
  const one = (i: number) =>
    `alert NoGoodPoll on app ${i} is firing: no successful poll for 5m 20s, above the threshold of 5m`
  expect(fire(4).map(({ msg }) => msg)).toEqual([0, 1, 2, 3].map(one))
  expect(fire(0)).toEqual([])
  const many = fire(2000)
  expect(many.map(({ msg }) => msg)).toEqual([...[0, 1, 2].map(one), '1,997 more alerts of NoGoodPoll are firing'])
  const shared = { alert: 'NoGoodPoll', severity: 'critical', state: 'firing' }
  expect(many[3]).toMatchObject({
    ...shared,
    changes: 1997,
    targets: Array.from({ length: 20 }, (_, i) => `app ${i + 3}`),
  })
  expect(many[3]).not.toHaveProperty('value')
  for (let i = 0; i < 5; i++) changed('app', { ...delta, notifications })
  flush()
  expect(lines.at(-1)!['msg']).toBe('2 more alerts of NoGoodPoll are firing, on production')
})

test('a daemon that stops logs the alerts that have no line yet', async () => {
  const service = await startSimulator({ apiKey: KEY })
  onTestFinished(service.close)
  const targets = Array.from({ length: 12 }, (_, i) => ({
    name: `app ${i}`,
    baseUrl: service.url,
    apiKey: KEY,
    query: {},
  }))
  const few = ruleOn({ name: 'calls_finished', window: 900 }, { name: 'FewCalls', breach: 'below', threshold: 1e9 })
  const { daemon, log, stop } = await daemonInProcess(service.url, {}, { targets, alerts: [few] })
  // The log is notified as well, in other lines.
  const lines = () => log.flatMap(({ msg }) => (/FewCalls (on|are)/.test(msg) ? msg : []))
  await vi.waitFor(() => {
    expect(daemon.targets.loaded().filter(({ alerts }) => alerts.size > 0)).toHaveLength(12)
    expect(lines().length).toBeGreaterThan(2)
  }, WAIT)
  await stop()
  // However many of them were committed in the same moment, and in how many moments.
  const counts = lines().map((line) => Number(/^(\d+) more alerts of FewCalls are firing$/.exec(line)?.[1] ?? 1))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(12)
})
