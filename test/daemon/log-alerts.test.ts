import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AlertDelta } from '../../src/alerts/evaluate.ts'
import { alertLog } from '../../src/daemon/log-alerts.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { at, evaluatedTarget, INTERVAL } from '../alerts/evaluated-target.ts'
import { POLL_AGE, RATIO, ruleOn } from '../alerts/sample-rules.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { daemonInProcess, KEY } from './daemon-in-process.ts'

/** What a daemon logs of its alerts, without what is for debugging. */
function logged() {
  const clock = virtualClock()
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { clock, lines, alerts: alertLog({ log, clock, interval: () => INTERVAL }) }
}

test('each change of state of an alert is one line, with target, alert, value and threshold', () => {
  const { lines, alerts } = logged()
  const target = evaluatedTarget([{ ...RATIO, for: 2 * INTERVAL, keepFiringFor: INTERVAL, repeat: INTERVAL }])
  // Of twenty calls so many failed: it is pending, fires, is notified again, resolves, and is pending once more.
  const failed = [2, 10, 11, 12, 13, 14, 0, 0, 0, 10, 0]
  for (const [i, each] of failed.entries()) alerts.changed('production', target.poll(at(i * INTERVAL), each))
  const fields = { level: 30, target: 'production', alert: 'HighFailureRate', labels: {}, severity: 'warning' }
  expect(lines).toMatchObject([
    { ...fields, state: 'pending', value: 0.5, threshold: 0.3 },
    { ...fields, state: 'firing', value: 0.6, threshold: 0.3 },
    { ...fields, state: 'resolved', value: 0, threshold: 0.2 },
    { ...fields, state: 'pending', value: 0.5, threshold: 0.3 },
    { ...fields, state: 'inactive', value: 0.5, threshold: 0.3 },
  ])
  expect(lines.map(({ msg }) => msg)).toEqual([
    'alert HighFailureRate on production is pending: 50%, threshold 30% (above)',
    'alert HighFailureRate on production is firing: 12 of 20 calls that finished in the last 15m failed: 60%, above the threshold of 30%',
    'alert HighFailureRate on production has resolved: 0 of 20 calls that finished in the last 15m failed: 0%, back at or below 20%; peak 70%, lasted 1m',
    'alert HighFailureRate on production is pending: 50%, threshold 30% (above)',
    'alert HighFailureRate on production is no longer pending, and was last at: 50%, threshold 30% (above)',
  ])
})

test('what a removed rule leaves behind is a line', () => {
  const { lines, alerts } = logged()
  const target = evaluatedTarget([RATIO])
  target.poll(at(0), 10)
  target.reload([])
  alerts.changed('production', target.poll(at(INTERVAL), 10))
  expect(lines).toMatchObject([{ level: 30, target: 'production', alert: 'HighFailureRate', state: 'expired' }])
  expect(lines[0]!['msg']).toMatch(
    /^alert HighFailureRate on production expired: rule removed\. When last evaluated, 10 of /,
  )
})

test('of many alerts of a rule that change within a minute the first ten are a line each, and the others one line', async () => {
  const { clock, lines, alerts } = logged()
  const targets = Array.from({ length: 2000 }, (_, i) => ({ name: `app ${i}`, ...evaluatedTarget([RATIO, POLL_AGE]) }))
  /** Each target is evaluated once in an interval. */
  const run = async (evaluate: (target: (typeof targets)[number], now: number) => void) => {
    for (let tenth = 0; tenth < 10; tenth++) {
      for (const target of targets.slice(tenth * 200, (tenth + 1) * 200)) evaluate(target, at(clock.monotonic()))
      await clock.advance(INTERVAL / 10)
      alerts.tick()
    }
  }
  const change = ({ name }: { name: string }, delta: AlertDelta) =>
    alerts.changed(name, { ...delta, notifications: delta.notifications.map((each) => ({ ...each, target: name })) })
  const messages = () => lines.splice(0).map(({ msg }) => String(msg))
  targets[7]!.poll(at(0), 10)
  await run((target, now) => change(target, target.tick(now, 320)))
  expect(lines).toHaveLength(10)
  await clock.advance(60)
  alerts.tick()
  expect(lines.at(-1)).toMatchObject({
    alert: 'NoGoodPoll',
    severity: 'critical',
    state: 'firing',
    alerts: 1990,
    targets: Array.from({ length: 20 }, (_, i) => `app ${i + 10}`),
  })
  expect(messages().slice(9)).toEqual([
    'alert NoGoodPoll on app 9 is firing: no successful poll for 5m 20s, above the threshold of 5m',
    '1,990 more alerts of NoGoodPoll are firing, on 1,990 targets',
  ])
  // The next time each rule and each state begins anew.
  await run((target, now) => change(target, target.poll(now, target.name === 'app 3' ? 10 : 0)))
  await clock.advance(60)
  alerts.tick()
  expect(messages().map((line) => line.replace(/(?<=app )\d+|: .*/g, ''))).toEqual([
    ...Array(3).fill('alert NoGoodPoll on app  has resolved'),
    'alert HighFailureRate on app  is firing',
    ...Array(4).fill('alert NoGoodPoll on app  has resolved'),
    'alert HighFailureRate on app  has resolved',
    ...Array(3).fill('alert NoGoodPoll on app  has resolved'),
    '1,990 more alerts of NoGoodPoll have resolved, on 1,990 targets',
  ])
  alerts.tick()
  expect(lines).toEqual([])
})

test.each([
  [
    'a full line where it is the only one',
    11,
    'alert NoGoodPoll on app 10 is firing: no successful poll for 5m 20s, above the threshold of 5m',
  ],
  ['a part of one line where there are more', 12, '2 more alerts of NoGoodPoll are firing, on 2 targets'],
])('the eleventh alert of a rule that fires is %s, however often it does so', (_, count, last) => {
  const { lines, alerts } = logged()
  const targets = Array.from({ length: count }, (__, i) => `app ${i}`)
  const { notifications, ...delta } = evaluatedTarget([POLL_AGE]).tick(at(0), 320)
  const fire = (target: string) =>
    alerts.changed(target, { ...delta, notifications: notifications.map((each) => ({ ...each, target })) })
  for (const target of targets) fire(target)
  fire(targets.at(-1)!)
  expect(lines).toHaveLength(10)
  alerts.flush()
  expect(lines).toHaveLength(11)
  expect(lines[10]).toMatchObject({ alert: 'NoGoodPoll', severity: 'critical', state: 'firing', msg: last })
  alerts.flush()
  expect(lines).toHaveLength(11)
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
  const lines = () => log.filter(({ msg }) => msg.includes('FewCalls')).map(({ msg }) => msg)
  await vi.waitFor(
    () => {
      expect(daemon.targets.loaded().filter(({ alerts }) => alerts.size > 0)).toHaveLength(12)
      expect(lines()).toHaveLength(10)
    },
    { timeout: 8000, interval: 20 },
  )
  await stop()
  expect(lines().slice(10)).toEqual(['2 more alerts of FewCalls are firing, on 2 targets'])
})
